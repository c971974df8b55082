package conformance_test

// known are the cases that differ from their recording on the history level, each with its reason.
var known = map[string]string{}
