package logs

import "stepback/aws"

// The maximums in the API model, used where a request does not set a limit.
const (
	maxPage   = 50
	maxEvents = 10_000
	maxTags   = 50
)

// groupRequest names a log group by name or, where the operation accepts it, by ARN.
type groupRequest struct {
	Group      string `json:"logGroupName"`
	Identifier string `json:"logGroupIdentifier"`
}

// name returns the name of the log group.
func (r *groupRequest) name() (string, error) {
	switch {
	case r.Group != "" && r.Identifier != "":
		return "", &aws.Error{Code: "ValidationException", Status: 400,
			Message: "LogGroup name and LogGroup ARN are mutually exclusive parameters."}
	case r.Group != "":
		return r.Group, nil
	case r.Identifier != "":
		return nameOf(r.Identifier), nil
	}
	return "", invalid("Must specify a log group.")
}
