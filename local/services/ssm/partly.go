package ssm

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AddTagsToResource":      "parameters only",
	"ListTagsForResource":    "parameters only",
	"PutParameter":           "no policies of parameters; `DataType` `aws:ec2:image` is not checked",
	"RemoveTagsFromResource": "parameters only",
}
