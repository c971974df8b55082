package workspace

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/local/services/lambda/standin"
)

// Scope is the account and region of exec's executions.
var Scope = aws.Scope{Account: "000000000000", Region: "us-east-1"}

// Role is the role of exec's state machines; it is never assumed.
const Role = "arn:aws:iam::000000000000:role/stepback"

// FunctionEnvironment returns the environment variables through which the functions of --lambda find the services.
func FunctionEnvironment(endpoint string) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": Scope.Region, "AWS_DEFAULT_REGION": Scope.Region,
		"AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID":         Scope.Account, "AWS_SECRET_ACCESS_KEY": "local",
	}
}

// CloseStandIns ends the processes of a --lambda flag.
func CloseStandIns(ctx context.Context, set *standin.Set) error {
	const grace = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return set.Close(ctx)
}
