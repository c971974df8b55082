package sqs

import (
	"context"
	"encoding/json"
	"slices"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/sqs/store"
)

// actions lists the actions that a permission can name.
var actions = []string{"*", "SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility",
	"GetQueueAttributes", "GetQueueUrl", "ListDeadLetterSourceQueues", "PurgeQueue"}

// policy is a queue's policy; statements are kept verbatim.
type policy struct {
	Version   string
	ID        string `json:"Id,omitempty"`
	Statement []any
}

func (q *live) policy() policy {
	var p policy
	if json.Unmarshal([]byte(q.Attributes[policyName]), &p) != nil {
		return policy{Version: "2008-10-17", ID: q.arn + "/SQSDefaultPolicy"}
	}
	return p
}

// label returns the Sid of a statement.
func label(statement any) string {
	members, _ := statement.(map[string]any)
	sid, _ := members["Sid"].(string)
	return sid
}

var accountID = lazyregexp.New(`^[0-9]{12}$`)

type permission struct {
	queueRequest
	Label    string
	Accounts []string `json:"AWSAccountIds"`
	Actions  []string
}

func (s *Service) addPermission(_ context.Context, scope aws.Scope, in *permission) (*none, error) {
	if len(in.Accounts) == 0 || len(in.Actions) == 0 {
		return nil, missing("ActionName or AWSAccountId")
	}
	names := make([]string, len(in.Actions))
	for i, action := range in.Actions {
		if !slices.Contains(actions, action) {
			return nil, invalidValue("SQS:"+action, "ActionName",
				"Please refer to the appropriate WSDL for a list of valid actions.")
		}
		names[i] = "SQS:" + action
	}
	for _, account := range in.Accounts {
		if !accountID.MatchString(account) {
			return nil, invalidValue("["+account+"]", "PrincipalId", "Unable to verify.")
		}
	}
	return &none{}, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		p := q.policy()
		if slices.ContainsFunc(p.Statement, func(s any) bool { return label(s) == in.Label }) {
			return invalidValue(in.Label, "Label", "Already exists.")
		}
		roots := make([]string, len(in.Accounts))
		for i, account := range in.Accounts {
			roots[i] = aws.Scope{Account: account, Region: q.Region}.GlobalARN("iam", "root")
		}
		p.Statement = append(p.Statement, map[string]any{
			"Sid": in.Label, "Effect": "Allow", "Principal": map[string]any{"AWS": oneOrMore(roots)},
			"Action": oneOrMore(names), "Resource": q.arn,
		})
		return s.setPolicy(now, b, q, p)
	})
}

// oneOrMore returns the list, or its only element.
func oneOrMore(list []string) any {
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func (s *Service) setPolicy(now int64, b *store.Batch, q *live, p policy) error {
	text := ""
	if len(p.Statement) > 0 {
		made, err := json.Marshal(p)
		if err != nil {
			return err
		}
		text = string(made)
	}
	q.Attributes, q.Modified = merged(q.Attributes, map[string]string{policyName: text}), now
	return s.keep(b, q)
}

func (s *Service) removePermission(_ context.Context, scope aws.Scope, in *permission) (*none, error) {
	return &none{}, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		p := q.policy()
		n := len(p.Statement)
		if n == 0 {
			return invalidValue(in.Label, "Label", "can't find label.")
		}
		p.Statement = slices.DeleteFunc(p.Statement, func(s any) bool { return label(s) == in.Label })
		if len(p.Statement) == n {
			return invalidValue(in.Label, "Label", "can't find label on existing policy.")
		}
		return s.setPolicy(now, b, q, p)
	})
}
