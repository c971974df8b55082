package main

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/local/services/lambda/standin"
)

// execScope is the account and region of exec's executions.
var execScope = aws.Scope{Account: "000000000000", Region: "us-east-1"}

// execRole is the role of exec's state machines; it is never assumed.
const execRole = "arn:aws:iam::000000000000:role/stepback"

// functionEnvironment returns the environment variables with which functions of --lambda find the services.
func functionEnvironment(endpoint string) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": execScope.Region, "AWS_DEFAULT_REGION": execScope.Region,
		"AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID":         execScope.Account, "AWS_SECRET_ACCESS_KEY": "local",
	}
}

// closeStandIns ends the processes of a --lambda flag.
func closeStandIns(ctx context.Context, set *standin.Set) error {
	const grace = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return set.Close(ctx)
}
