package conformance_test

// known are the cases that differ from their recording on the history level, each with its reason.
var known = map[string]string{
	"assign/assign_reference_variables.reference_in_map_state.MAP_STATE_REFERENCE_IN_MAX_CONCURRENCY_PATH": "the recording keeps three outputs " +
		"as numbers where the API has their JSON text",
}
