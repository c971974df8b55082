#!/usr/bin/env bash
# Runs Terraform against stepback serve: apply, an empty plan, a change, an import, a change by another client, destroy. run.sh calls
# it. Without access to the registry, set TF_PLUGIN_DIR to a directory with the AWS provider. Usage: terraform.sh DIR
set -euo pipefail
dir=$1
mkdir -p "$dir"
cp "$(dirname "$0")/terraform/main.tf" "$dir"
cd "$dir"
printf 'def handler(event, context):\n    return event\n' >main.py
python3 -m zipfile -c function.zip main.py
export TF_IN_AUTOMATION=1 TF_VAR_endpoint="$AWS_ENDPOINT_URL"
unset AWS_ENDPOINT_URL

if ! terraform init -input=false -no-color ${TF_PLUGIN_DIR:+-plugin-dir="$TF_PLUGIN_DIR"} >init.log 2>&1; then
	echo "  skipped: cannot install the AWS provider (set TF_PLUGIN_DIR to a directory that contains it): $(grep -m1 Error init.log)"
	exit 0
fi

apply() { terraform apply -input=false -no-color -auto-approve "$@" >apply.log 2>&1 || { cat apply.log >&2; exit 1; }; }

# settled fails unless the plan is empty.
settled() {
	terraform plan -input=false -no-color -detailed-exitcode "$@" >plan.log 2>&1 || { cat plan.log >&2; exit 1; }
}

apply
settled
[ "$(terraform output -raw alias)" = arn:aws:states:us-east-1:000000000000:stateMachine:orders:live ]
apply -var comment=second
settled -var comment=second
states=arn:aws:states:us-east-1:000000000000
for r in machine.quick=stateMachine:quick alias.live=stateMachine:orders:live activity.review=activity:review; do
	name=aws_sfn_${r%%=*} && name=${name/sfn_machine/sfn_state_machine}
	terraform state rm "$name" >rm.log
	terraform import -input=false -no-color -var comment=second "$name" "$states:${r#*=}" >import.log 2>&1 || { cat import.log >&2; exit 1; }
done
settled -var comment=second
AWS_ENDPOINT_URL=$TF_VAR_endpoint aws stepfunctions update-state-machine --state-machine-arn "$states:stateMachine:orders" --tracing-configuration enabled=false >/dev/null
if (settled -var comment=second) 2>/dev/null; then
	echo "the plan does not show a change by another client" >&2
	exit 1
fi
apply -var comment=second
settled -var comment=second
terraform destroy -input=false -no-color -auto-approve >destroy.log 2>&1 || { cat destroy.log >&2; exit 1; }
left=$(AWS_ENDPOINT_URL=$TF_VAR_endpoint aws stepfunctions list-state-machines --query 'stateMachines[].name' --output text 2>/dev/null || true)
[[ $left != *orders* ]] || { echo "not deleted: $left" >&2; exit 1; }
echo "  $(terraform version | head -1): apply, empty plan, change, import, drift, destroy: ok"
