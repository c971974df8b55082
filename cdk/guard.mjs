// Rejects a deployment (exit status 1) if the credentials are for another account or region than the environment's, or if the
// functions would use another database than the deployed ones. Usage: node guard.mjs ENV [--database-changes]. Needs the AWS
// command line.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [name, ...flags] = process.argv.slice(2);
const folder = process.env.SETTINGS || join(dirname(fileURLToPath(import.meta.url)), "environments");
const file = join(folder, `${name}.json`);
const refuse = (text) => {
	console.error(`refused: ${text}`);
	process.exit(1);
};
const aws = (...args) => execFileSync("aws", [...args, "--output", "text"], {
	encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, AWS_PAGER: "" },
}).trim();

let settings;
try {
	settings = JSON.parse(readFileSync(file, "utf8"));
} catch (e) {
	refuse(`${file}: ${e.message}`);
}
let account;
try {
	account = aws("sts", "get-caller-identity", "--query", "Account");
} catch (e) {
	refuse(`aws sts get-caller-identity failed: ${e.stderr || e.message}`);
}
const region = process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION || (() => {
	try {
		return aws("configure", "get", "region");
	} catch {
		return "";
	}
})();
if (name === "prod" && !(settings.account && settings.region)) {
	refuse(`${file} does not set the account and region of prod: set "account" (these credentials: ${account}) and "region"`);
}
if (settings.account && settings.account !== account) {
	refuse(`${name} belongs to account ${settings.account}, but the credentials are for ${account}`);
}
if (settings.region && region && settings.region !== region) {
	refuse(`${name} belongs to region ${settings.region}, but the credentials are for ${region}`);
}
const wanted = settings.database?.secretArn || "aurora";
let deployed = "";
try {
	deployed = aws("cloudformation", "describe-stacks", "--stack-name", `stepback-${name}`, "--query",
		"Stacks[0].Outputs[?OutputKey=='UsersDatabase']|[0].OutputValue");
} catch (e) {
	if (!/does not exist/.test(e.stderr || "")) refuse(`cannot describe the stack stepback-${name}: ${e.stderr || e.message}`);
}
if (deployed && deployed !== "None" && deployed !== wanted && !flags.includes("--database-changes")) {
	refuse(`the deployed functions use the database ${deployed}, but ${file} says ${wanted}. A different database lacks the idempotency keys, ` +
		`so every row of a repeated import would be counted again. If rows and keys were moved: make deploy ENV=${name} DATABASE=changes`);
}
console.log(`${name}: account ${account}, region ${region || "not set"}, database ${wanted}`);
