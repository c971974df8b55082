package decide

// The source and the detail types of the controller's events. The source and EventUpdate, for a change that was made,
// are those of the source design. EventProposal is for a change that a dry run proposes.
const (
	EventSource   = "csv.processing.retry.manager"
	EventUpdate   = "Retry Configuration Update"
	EventProposal = "Retry Configuration Proposal"
)
