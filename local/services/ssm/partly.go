package ssm

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AddTagsToResource":      "only for parameters",
	"ListTagsForResource":    "only for parameters",
	"PutParameter":           "no policies of parameters; `DataType` `aws:ec2:image` is not checked",
	"RemoveTagsFromResource": "only for parameters",
}
