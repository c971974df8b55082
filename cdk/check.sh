#!/usr/bin/env bash
# Checks synthesized templates: the state machines with asl-validator, and the whole templates with cfn-lint if it is
# installed (pip install cfn-lint). Usage: check.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for template in "$1"/*.template.json; do
	definition=$(mktemp --suffix .json)
	node -e '
		const t = JSON.parse(require("fs").readFileSync(process.argv[1]));
		const m = Object.values(t.Resources).find(r => r.Type === "AWS::StepFunctions::StateMachine");
		// asl-validator rejects || in filters, which Step Functions accepts; tests check such paths with package asl.
		const text = m.Properties.DefinitionString.replace(/\$\[\?\([^"]*\|\|[^"]*\)\]/g, "$[0]");
		require("fs").writeFileSync(process.argv[2], text);
	' "$template" "$definition"
	"$here/node_modules/.bin/asl-validator" --json-path "$definition"
	rm -f "$definition"
done
if command -v cfn-lint >/dev/null; then
	# W3005: CDK writes dependencies that a reference already implies. E3601: cfn-lint rejects the OutputPath of a Succeed
	# state, which the Amazon States Language allows; asl-validator and the tests check the definition.
	cfn-lint --ignore-checks W3005 E3601 --template "$1"/*.template.json
else
	echo "cfn-lint is not installed: skipped"
fi
