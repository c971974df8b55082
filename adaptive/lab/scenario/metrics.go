package scenario

// Metrics are the names used by expectations and reports, in the order of reports. "recovered" is not included: it is
// the yes-or-no form of timeToRecover.
var Metrics = []string{
	"success", "goodput", "deadLettered", "amplification", "callsDuring", "wastedWork", "timeToRecover", "timeToDrain",
	"p50", "p99", "costUSD", "changes", "reversalsPerHour",
}

// Recovered is the metric of expectations with "never" or "always".
const Recovered = "recovered"

// canonical maps the dotted name of a metric, which is more readable in a file, to the metric's own name.
func canonical(name string) string {
	if name == "calls.during" {
		return "callsDuring"
	}
	return name
}
