package aws

import "context"

type systemTagsKey struct{}

// WithSystemTags lets requests with a context set tags whose keys begin with aws:, which only services of AWS may, such
// as CloudFormation for the resources that it makes.
func WithSystemTags(ctx context.Context) context.Context {
	return context.WithValue(ctx, systemTagsKey{}, true)
}

// MaySetSystemTags reports whether a request with a context may set tags whose keys begin with aws:.
func MaySetSystemTags(ctx context.Context) bool {
	may, _ := ctx.Value(systemTagsKey{}).(bool)
	return may
}
