package logs

import (
	"regexp"

	"stepback/awsapi/awsjson"
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

var (
	groupPattern  = regexp.MustCompile(`^[.\-_/#A-Za-z0-9]+$`)
	streamPattern = regexp.MustCompile(`^[^:*]*$`)
)

func groupName(member string) awsjson.Member {
	return awsjson.Member{Name: member, Min: 1, Max: maxName, Pattern: groupPattern, Shown: `[\.\-_/#A-Za-z0-9]+`}
}

func streamName(member string) awsjson.Member {
	return awsjson.Member{Name: member, Min: 1, Max: maxName, Pattern: streamPattern, Shown: `[^:*]*`}
}

func required(m awsjson.Member) awsjson.Member {
	m.Required = true
	return m
}

var (
	identifier = awsjson.Member{Name: "logGroupIdentifier", Min: 1, Max: maxIdentifier}
	nextToken  = awsjson.Member{Name: "nextToken", Min: 1}
	tags       = awsjson.Member{Name: "tags", Kind: awsjson.Map, Min: 1, Max: maxTags, Element: &awsjson.Member{Max: 256}}
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
