package resource

import (
	"stepback/internal/lazyregexp"
	"stepback/local/services/stepfunctions/apierror"
)

var roleARN = lazyregexp.New(`^arn:aws[a-zA-Z-]*:iam::\d{12}:role/.+$`)

// CheckRole returns InvalidArn if arn is not the ARN of an IAM role.
func CheckRole(arn string) error {
	if !roleARN.MatchString(arn) {
		return apierror.New("InvalidArn", "Invalid Role Arn", arn)
	}
	return nil
}
