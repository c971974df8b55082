package stepfunctions

import (
	"regexp"

	"stepback/aws/server/awsjson"
)

// The limits of the service's model, in characters.
const (
	maxARN         = 256
	maxLongARN     = 2000
	maxName        = 80
	maxData        = 262_144
	maxDefinition  = 1_048_576
	maxDescription = 256
	maxPage        = 1000
	maxToken       = 1024
	maxListToken   = 3096
	maxError       = 256
	maxCause       = 32_768
	maxTags        = 50
)

func arn(name string) awsjson.Member {
	return awsjson.Member{Name: name, Required: true, Min: 1, Max: maxARN}
}

func executionARN() awsjson.Member { return arn("executionArn") }

func machineARN() awsjson.Member { return arn("stateMachineArn") }

var (
	ascii        = regexp.MustCompile(`^[\x00-\x7f]*$`)
	aliasPattern = regexp.MustCompile(`^[a-zA-Z0-9_\-.]*[a-zA-Z_\-.][a-zA-Z0-9_\-.]*$`)
)

var traceHeader = awsjson.Member{Name: "traceHeader", Max: maxARN, Pattern: ascii, Shown: `\p{ASCII}*`}

var definition = awsjson.Member{Name: "definition", Min: 1, Max: maxDefinition, Sensitive: true}

// data is a member whose value is JSON; its size is counted in bytes.
func data(name string) awsjson.Member {
	return awsjson.Member{Name: name, Max: maxData, Bytes: true, Sensitive: true}
}

func required(m awsjson.Member) awsjson.Member {
	m.Required = true
	return m
}

var includedData = awsjson.Member{Name: "includedData", Enum: []string{"ALL_DATA", "METADATA_ONLY"}}

var tags = awsjson.Member{Name: "tags", Kind: awsjson.List, Members: []awsjson.Member{
	{Name: "key", Min: 1, Max: 128}, {Name: "value", Max: 256},
}}

// paging are the members of operations that answer in pages.
func paging(token int64) []awsjson.Member {
	return []awsjson.Member{
		{Name: "maxResults", Kind: awsjson.Integer, Max: maxPage},
		{Name: "nextToken", Min: 1, Max: token},
	}
}

func with(members []awsjson.Member, more ...awsjson.Member) []awsjson.Member {
	return append(more, members...)
}
