package awssdk

import (
	"stepback/aws"
	"stepback/jsonvalue"
)

// account is the account that an action is called in: that of the execution, and with a role that of the first resource
// that the parameters name by its ARN, else that of the role. Whether the role may do so is not asked.
func (c *Caller) account(role string, params jsonvalue.Value) string {
	if role == "" {
		return c.Account
	}
	for i := range params.Keys() {
		if account := accountIn(params.At(i).Text()); account != "" {
			return account
		}
	}
	if account := accountIn(role); account != "" {
		return account
	}
	return c.Account
}

// accountIn is the account of an ARN; empty when the text is none, or has none.
func accountIn(arn string) string {
	a, _ := aws.ParseARN(arn)
	return a.Account
}
