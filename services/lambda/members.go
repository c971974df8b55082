package lambda

import (
	"regexp"

	"stepback/aws/server/awsjson"
)

// The constraints of Lambda's model, and where Lambda's own limits are narrower than its model says, those.

const (
	functionNamePattern = `(arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\d{1}:)?(\d{12}:)?(function:)?([a-zA-Z0-9-_]+)(:(\$LATEST|[a-zA-Z0-9-_]+))?`
	rolePattern         = `arn:(aws[a-zA-Z-]*)?:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+`
	handlerPattern      = `[^\s]+`
	aliasPattern        = `(?!^[0-9]+$)([a-zA-Z0-9-_]+)`
	versionPattern      = `(\$LATEST(\.PUBLISHED)?|[0-9]+)`
)

// whole is a pattern that a whole text must match.
func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) }

var (
	functionName = awsjson.Member{
		Name: "functionName", Min: 1, Max: 140, Pattern: whole(functionNamePattern), Shown: functionNamePattern,
	}
	revisionID    = awsjson.Member{Name: "revisionId"}
	description   = awsjson.Member{Name: "description", Max: 256}
	architectures = awsjson.Member{
		Name: "architectures", Kind: awsjson.List, Min: 1, Max: 1,
		Element: &awsjson.Member{Enum: []string{"x86_64", "arm64"}},
	}
	publish = awsjson.Member{Name: "publish", Kind: awsjson.Boolean}
	tags    = awsjson.Member{Name: "tags", Kind: awsjson.Structure}

	// sourceMembers say where code comes from.
	sourceMembers = []awsjson.Member{
		{Name: "zipFile"}, {Name: "s3Bucket", Min: 3, Max: 63}, {Name: "s3Key", Min: 1, Max: 1024},
		{Name: "s3ObjectVersion", Min: 1, Max: 1024}, {Name: "imageUri"},
	}

	aliasName = awsjson.Member{
		Name: "name", Required: true, Min: 1, Max: 128, Pattern: whole(`[0-9]*[a-zA-Z_-][a-zA-Z0-9_-]*`),
		Shown: aliasPattern,
	}
	aliasVersion = awsjson.Member{Name: "functionVersion", Min: 1, Max: 1024, Pattern: whole(versionPattern),
		Shown: versionPattern}
)

// settingMembers describe a configuration.
func settingMembers(role awsjson.Member) []awsjson.Member {
	return []awsjson.Member{
		role, {Name: "runtime"}, {Name: "handler", Max: 128, Pattern: whole(handlerPattern), Shown: handlerPattern},
		description,
		{Name: "timeout", Kind: awsjson.Integer, Min: 1, Max: 900},
		{Name: "memorySize", Kind: awsjson.Integer, Min: 128, Max: 10240},
		{Name: "environment", Kind: awsjson.Structure,
			Members: []awsjson.Member{{Name: "variables", Kind: awsjson.Structure}}},
		{Name: "vpcConfig", Kind: awsjson.Structure}, {Name: "deadLetterConfig", Kind: awsjson.Structure},
		{Name: "tracingConfig", Kind: awsjson.Structure,
			Members: []awsjson.Member{{Name: "mode", Enum: []string{"Active", "PassThrough"}}}},
		{Name: "ephemeralStorage", Kind: awsjson.Structure,
			Members: []awsjson.Member{{Name: "size", Kind: awsjson.Integer, Required: true, Min: 512, Max: 10240}}},
		{Name: "snapStart", Kind: awsjson.Structure,
			Members: []awsjson.Member{{Name: "applyOn", Enum: []string{"PublishedVersions", "None"}}}},
		{Name: "loggingConfig", Kind: awsjson.Structure,
			Members: []awsjson.Member{{Name: "logFormat", Enum: []string{"JSON", "Text"}}}},
		{Name: "kMSKeyArn"}, {Name: "layers", Kind: awsjson.List, Element: &awsjson.Member{Min: 1, Max: 140}},
	}
}

func roleMember(required bool) awsjson.Member {
	return awsjson.Member{Name: "role", Required: required, Pattern: whole(rolePattern), Shown: rolePattern}
}
