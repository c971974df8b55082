// The sidebar.
const list = (text, ...items) => ({ text, collapsed: false, items: items.map(([text, link]) => ({ text, link })) });

export const pages = [
  list("Start", ["Five minutes", "/start"], ["On call with serve", "/start-serve"], ["Embed in Go", "/start-go"],
    ["Put the import on AWS", "/start-aws"], ["Moving in", "/moving-in"], ["Install", "/install"], ["Try it here", "/try"]),
  list("Use", ["What is here", "/overview"], ["Command line", "/command-line"], ["Tests", "/testing"], ["Editors", "/editors"],
    ["Coding agents", "/agents"], ["AWS on a laptop", "/services"],
    ["Durable functions", "/durable-functions"], ["ASL or durable", "/asl-or-durable"], ["Limits", "/limits"], ["Fidelity", "/fidelity"]),
  list("Retries", ["Patterns", "/retry-patterns"], ["Review", "/retry-review"], ["Review of code", "/durable-review"], ["Design", "/design-retries"],
    ["Analysis", "/retry-analysis"], ["Traces", "/retry-traces"], ["Retries that learn", "/retries-that-learn"],
    ["Laboratory", "/laboratory"], ["SDK retries", "/sdk-retries"], ["HTTP, gRPC and SQL", "/resilience"], ["Outbox", "/outbox"]),
  list("Operate", ["AWS", "/aws"], ["On-call guide", "/operating"], ["Alarms", "/alarms"], ["Metrics", "/metrics"], ["Budgets", "/budgets"]),
  list("Understand", ["Architecture", "/ARCHITECTURE"], ["Packages", "/packages"], ["Decisions", "/decisions/"],
    ["Contributing", "/CONTRIBUTING"], ["Measurements", "/RESULTS"], ["How cost grows", "/scaling"], ["Changes", "/CHANGELOG"]),
];
