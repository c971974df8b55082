package tags

import (
	"stepback/local/services/stepfunctions/apierror"
)

// maxTags is the maximum number of tags per resource.
const maxTags = 50

// Tag is a tag in requests and responses.
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Set adds the tags in given to tags, the tags of the resource with an ARN.
func Set(arn string, tags map[string]string, given []Tag) error {
	for _, t := range given {
		tags[t.Key] = t.Value
	}
	if len(tags) > maxTags {
		return apierror.New("TooManyTags", "Too many tags", arn)
	}
	return nil
}
