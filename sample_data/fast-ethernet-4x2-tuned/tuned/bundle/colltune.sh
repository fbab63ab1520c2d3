# Source it: '. colltune.sh' switches the rules on, '. colltune.sh off' switches them off.
if [ "${1:-}" = off ]; then
    unset OMPI_MCA_coll_tuned_use_dynamic_rules OMPI_MCA_coll_tuned_dynamic_rules_filename OMPI_MCA_coll_han_use_dynamic_file_rules OMPI_MCA_coll_han_dynamic_rules_filename
else
    colltune_here=$(cd "$(dirname "${BASH_SOURCE:-$0}")" && pwd)
    [ -f "$colltune_here/rules.conf" ] || colltune_here=/work/cl/p51/tuned/bundle
    if [ -f "$colltune_here/rules.conf" ]; then
        export OMPI_MCA_coll_tuned_use_dynamic_rules="1"
        export OMPI_MCA_coll_tuned_dynamic_rules_filename="$colltune_here/rules.conf"
        export OMPI_MCA_coll_han_use_dynamic_file_rules="1"
        export OMPI_MCA_coll_han_dynamic_rules_filename="$colltune_here/rules-han.conf"
        [ -n "${BASH_VERSION:-}${ZSH_VERSION:-}${KSH_VERSION:-}" ] ||
            echo "colltune.sh: the rules are on; in this shell 'unset OMPI_MCA_coll_tuned_use_dynamic_rules OMPI_MCA_coll_tuned_dynamic_rules_filename OMPI_MCA_coll_han_use_dynamic_file_rules OMPI_MCA_coll_han_dynamic_rules_filename' switches them off" >&2
    else
        echo "colltune.sh: rules.conf is not in $colltune_here; nothing is switched on" >&2
    fi
    unset colltune_here
fi
