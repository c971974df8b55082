package scenario

// Metrics are the names that expectations and reports use, in the order of reports. "recovered" is not among them:
// it is the yes-or-no form of timeToRecover.
var Metrics = []string{
	"success", "goodput", "deadLettered", "amplification", "callsDuring", "wastedWork", "timeToRecover", "timeToDrain",
	"p50", "p99", "costUSD", "changes", "reversalsPerHour",
}

// Recovered is the metric of expectations that are "never" or "always".
const Recovered = "recovered"

// canonical maps the dotted names, which read better in a file, to metrics.
func canonical(name string) string {
	if name == "calls.during" {
		return "callsDuring"
	}
	return name
}
