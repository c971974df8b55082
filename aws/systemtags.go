package aws

import "context"

// ReservedTagMessage is the message of most AWS services for a tag whose key begins with aws:.
const ReservedTagMessage = "aws: prefixed tag key names are not allowed for external use."

type systemTagsKey struct{}

// WithSystemTags lets requests with this context set tags whose keys begin with aws:. Only AWS services may do so,
// such as CloudFormation for the resources that it creates.
func WithSystemTags(ctx context.Context) context.Context {
	return context.WithValue(ctx, systemTagsKey{}, true)
}

// MaySetSystemTags reports whether a request with this context may set tags whose keys begin with aws:.
func MaySetSystemTags(ctx context.Context) bool {
	may, _ := ctx.Value(systemTagsKey{}).(bool)
	return may
}
