// The inputs of every.py by the SDK for JavaScript. Run by run.sh as every.mjs INPUTS, where its packages are installed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const inputs = JSON.parse(readFileSync(process.argv[2], "utf8"));

const revived = (v) => {
	if (Array.isArray(v)) return v.map(revived);
	if (v === null || typeof v !== "object") return v;
	if ("$blob" in v) return Buffer.from(v.$blob, "base64");
	if ("$time" in v) return new Date(v.$time);
	return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, revived(x)]));
};

const clients = new Map();
const clientOf = (name) => {
	if (!clients.has(name)) {
		const sdk = require(`@aws-sdk/client-${name}`);
		const kind = Object.keys(sdk).find((k) => k.endsWith("Client") && k !== "__Client");
		const client = new sdk[kind]({ endpoint: process.env.AWS_ENDPOINT_URL, region: "us-east-1", maxAttempts: 1, forcePathStyle: true,
			disableHostPrefix: true, useQueueUrlAsEndpoint: false, credentials: { accessKeyId: "local", secretAccessKey: "local" } });
		clients.set(name, { sdk, client });
	}
	return clients.get(name);
};

let failed = 0;
let count = 0;
for (const { package: name, operation, input } of inputs) {
	const { sdk, client } = clientOf(name);
	const command = sdk[`${operation}Command`];
	if (!command) continue; // of another version of the model
	count++;
	try {
		await client.send(new command(revived(input)), { abortSignal: AbortSignal.timeout(30_000) });
	} catch (e) {
		const status = e.$metadata?.httpStatusCode;
		// What the SDK itself refuses before it asks has no status.
		if (status === undefined ? !(e instanceof Error) || /timeout|ECONN|Deserialization|Unexpected|aborted/i.test(`${e.name} ${e.message}`)
			: status >= 500 || !e.name || e.name === "SyntaxError") {
			failed++;
			console.error(`  ${name} ${operation}: ${status} ${e.name}: ${e.message}`);
		}
	}
}
console.log(`  every operation of ${clients.size} services, ${count} in all: ${failed} answers cannot be read`);
process.exit(failed ? 1 : 0);
