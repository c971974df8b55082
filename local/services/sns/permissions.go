package sns

import (
	"context"
	"encoding/json"
	"slices"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
)

// actions lists the actions that a permission can name.
var actions = []string{"*", "Publish", "GetTopicAttributes", "SetTopicAttributes", "AddPermission", "RemovePermission",
	"DeleteTopic", "Subscribe", "ListSubscriptionsByTopic", "Receive"}

// policy is a topic's policy; statements are kept verbatim.
type policy struct {
	Version   string `json:",omitempty"`
	ID        string `json:"Id,omitempty"`
	Statement []any
}

// policy returns the topic's policy, or the default one if it has none.
func (t *topic) policy() (p policy, err error) {
	text := t.Attributes[policyName]
	if text == "" {
		text = t.defaultPolicy()
	}
	return p, json.Unmarshal([]byte(text), &p)
}

// label returns the Sid of a statement.
func label(statement any) string {
	members, _ := statement.(map[string]any)
	sid, _ := members["Sid"].(string)
	return sid
}

type permission struct {
	topicName
	Label    string
	Accounts []string `json:"AWSAccountId"`
	Actions  []string `json:"ActionName"`
}

var accountID = lazyregexp.New(`^\d{12}$`)

func (s *Service) addPermission(_ context.Context, scope aws.Scope, in *permission) (*none, error) {
	for _, account := range in.Accounts {
		if !accountID.MatchString(account) {
			return nil, invalid("Policy Error: PrincipalNotFound")
		}
	}
	names := make([]string, len(in.Actions))
	for i, action := range in.Actions {
		if !slices.Contains(actions, action) {
			return nil, invalid("Policy statement action out of service scope!")
		}
		names[i] = "SNS:" + action
	}
	return &none{}, s.onTopic(scope, in.ARN, func(_ int64, b *documents.Batch, t *topic) error {
		p, err := t.policy()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(p.Statement, func(s any) bool { return label(s) == in.Label }) {
			return invalid("Statement already exists")
		}
		roots := make([]string, len(in.Accounts))
		for i, account := range in.Accounts {
			roots[i] = aws.Scope{Account: account, Region: t.Region}.GlobalARN("iam", "root")
		}
		p.Statement = append(p.Statement, map[string]any{
			"Sid": in.Label, "Effect": "Allow", "Principal": map[string]any{"AWS": oneOrMore(roots)},
			"Action": oneOrMore(names), "Resource": t.arn,
		})
		return s.setPolicy(b, t, p)
	})
}

// oneOrMore returns the list, or its only element.
func oneOrMore(list []string) any {
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func (s *Service) setPolicy(b *documents.Batch, t *topic, p policy) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	t.set(policyName, string(text))
	return s.keepTopic(b, t)
}

func (s *Service) removePermission(_ context.Context, scope aws.Scope, in *permission) (*none, error) {
	return &none{}, s.onTopic(scope, in.ARN, func(_ int64, b *documents.Batch, t *topic) error {
		p, err := t.policy()
		if err != nil {
			return err
		}
		p.Statement = slices.DeleteFunc(p.Statement, func(s any) bool { return label(s) == in.Label })
		return s.setPolicy(b, t, p)
	})
}
