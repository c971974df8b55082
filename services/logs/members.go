package logs

import (
	"regexp"

	"stepback/aws/server/awsjson"
)

// The limits of the service's model.
const (
	maxName       = 512
	maxIdentifier = 2048
	maxARN        = 1011
	maxPage       = 50
	maxEvents     = 10_000
	maxTags       = 50
)

// matching is a member whose whole text matches a pattern of the model.
func matching(m awsjson.Member, pattern string) awsjson.Member {
	m.Pattern, m.Shown = regexp.MustCompile(`^(?:`+pattern+`)$`), pattern
	return m
}

func groupName(member string) awsjson.Member {
	return matching(awsjson.Member{Name: member, Min: 1, Max: maxName}, `[\.\-_/#A-Za-z0-9]+`)
}

func streamName(member string) awsjson.Member {
	return matching(awsjson.Member{Name: member, Min: 1, Max: maxName}, `[^:*]*`)
}

func required(m awsjson.Member) awsjson.Member {
	m.Required = true
	return m
}

var (
	identifier = matching(awsjson.Member{Name: "logGroupIdentifier", Min: 1, Max: maxIdentifier}, `[\w#+=/:,.@-]*`)
	nextToken  = awsjson.Member{Name: "nextToken", Min: 1}
	tags       = awsjson.Member{Name: "tags", Kind: awsjson.Map, Min: 1, Max: maxTags, Element: &tagValue}
	tagKey     = matching(awsjson.Member{Min: 1, Max: 128}, `^([\p{L}\p{Z}\p{N}_.:/=+\-@]+)$`)
	tagValue   = matching(awsjson.Member{Max: 256}, `^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$`)
	startTime  = awsjson.Member{Name: "startTime", Kind: awsjson.Integer}
	endTime    = awsjson.Member{Name: "endTime", Kind: awsjson.Integer}
	eventLimit = awsjson.Member{Name: "limit", Kind: awsjson.Integer, Min: 1, Max: maxEvents}

	logGroupMembers  = []awsjson.Member{required(groupName("logGroupName"))}
	logStreamMembers = []awsjson.Member{required(groupName("logGroupName")), required(streamName("logStreamName"))}
)

// groupRequest names a log group, by its name or, where the operation takes it, its ARN.
type groupRequest struct {
	Group      string `json:"logGroupName"`
	Identifier string `json:"logGroupIdentifier"`
}

// name is the log group's.
func (r *groupRequest) name() (string, error) {
	switch {
	case r.Group != "" && r.Identifier != "":
		return "", invalid("LogGroup name and LogGroup ARN are mutually exclusive parameters.")
	case r.Group != "":
		return r.Group, nil
	case r.Identifier != "":
		return nameOf(r.Identifier), nil
	}
	return "", invalid("Must specify a log group.")
}
