package aws

import "context"

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
