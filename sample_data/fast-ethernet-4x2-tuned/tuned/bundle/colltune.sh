# Source it: '. colltune.sh' switches the rules on, '. colltune.sh off' switches them off.
if [ "${1:-}" = off ]; then
    unset OMPI_MCA_coll_tuned_use_dynamic_rules OMPI_MCA_coll_tuned_dynamic_rules_filename OMPI_MCA_coll_han_use_dynamic_file_rules OMPI_MCA_coll_han_dynamic_rules_filename
else
    colltune_here=$(cd "$(dirname "${BASH_SOURCE:-$0}")" && pwd)
    export OMPI_MCA_coll_tuned_use_dynamic_rules="1"
    export OMPI_MCA_coll_tuned_dynamic_rules_filename="$colltune_here/rules.conf"
    export OMPI_MCA_coll_han_use_dynamic_file_rules="1"
    export OMPI_MCA_coll_han_dynamic_rules_filename="$colltune_here/rules-han.conf"
    unset colltune_here
fi
