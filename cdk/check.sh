#!/usr/bin/env bash
# Checks synthesized templates: their state machines with asl-validator, and all of them with cfn-lint where it is
# installed (pip install cfn-lint). Usage: check.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for template in "$1"/*.template.json; do
	definition=$(mktemp --suffix .json)
	node -e '
		const t = JSON.parse(require("fs").readFileSync(process.argv[1]));
		const m = Object.values(t.Resources).find(r => r.Type === "AWS::StepFunctions::StateMachine");
		// asl-validator has no || in filters, which the service takes; the tests check such paths by package asl.
		const text = m.Properties.DefinitionString.replace(/\$\[\?\([^"]*\|\|[^"]*\)\]/g, "$[0]");
		require("fs").writeFileSync(process.argv[2], text);
	' "$template" "$definition"
	"$here/node_modules/.bin/asl-validator" --json-path "$definition"
	rm -f "$definition"
done
if command -v cfn-lint >/dev/null; then
	# W3005: CDK writes dependencies that a reference implies already. E3601: cfn-lint refuses the OutputPath of a Succeed
	# state, which the states language allows; asl-validator and the tests have checked the definition.
	cfn-lint --ignore-checks W3005 E3601 --template "$1"/*.template.json
else
	echo "cfn-lint is not installed: skipped"
fi
