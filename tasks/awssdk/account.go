package awssdk

import (
	"stepback/aws"
	"stepback/jsonvalue"
)

// account returns the account in which an action is called. Without a role, it is the execution's account. With a
// role, it is the account of the first resource that the parameters name by ARN, or else the role's account. It is
// not checked whether the role is allowed to do so.
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

// accountIn returns the account in an ARN, or "" if the text is not an ARN or has none.
func accountIn(arn string) string {
	a, _ := aws.ParseARN(arn)
	return a.Account
}
