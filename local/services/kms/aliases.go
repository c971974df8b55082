package kms

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
	"stepback/local/services/kms/material"
)

// alias is another name of a key.
type alias struct {
	Name             string // including alias/
	Target           string
	Created, Changed time.Time
}

// managed is the prefix of the aliases of AWS managed keys.
const managed = "alias/aws/"

const managedByAWS = "AWS"

// managing lists the services that have an AWS managed key. Those without one, such as EventBridge, use keys that the
// account does not see.
var managing = []string{"dynamodb", "ecr", "lambda", "s3", "secretsmanager", "sns", "sqs", "ssm", "xray"}

// byAlias returns the key of an alias. AWS managed keys are created on first use.
func (s *Service) byAlias(scope aws.Scope, name string) (*key, error) {
	a := &alias{}
	found, err := s.get(place(aliasPlace, scope, name), a)
	if err != nil {
		return nil, err
	}
	if found {
		k, err := s.byID(scope, a.Target)
		if err != nil || k != nil {
			return k, err
		}
	} else if service, ok := strings.CutPrefix(name, managed); ok && slices.Contains(managing, service) {
		return s.makeManaged(scope, name, service)
	}
	return nil, refuse(codeNotFound, "Alias %s is not found.", scope.ARN("kms", name))
}

func (s *Service) makeManaged(scope aws.Scope, name, service string) (*key, error) {
	k := &key{scope: scope, ID: aws.NewID(), Spec: material.Symmetric, Usage: material.EncryptDecrypt,
		Manager:     managedByAWS,
		Description: "Default key that protects my data when no other key is defined: " + service}
	k.Created = s.now()
	k.RotatedFrom = k.Created
	if err := s.newMaterial(k, ""); err != nil {
		return nil, err
	}
	made := k
	err := s.change(func(b *documents.Batch) error {
		a := &alias{}
		found, err := s.get(place(aliasPlace, scope, name), a) // another request may have been first
		if err != nil {
			return err
		}
		if found {
			made, err = s.byID(scope, a.Target)
			return err
		}
		if err := s.put(b, place(aliasPlace, scope, name), alias{name, k.ID, k.Created, k.Created}); err != nil {
			return err
		}
		return s.keep(b, k)
	})
	return made, err
}

type aliasRequest struct {
	Name   string `json:"AliasName"`
	Target string `json:"TargetKeyId"`
}

var aliasName = lazyregexp.New(`^alias/[a-zA-Z0-9/_-]+$`)

func checkAlias(name string) error {
	switch {
	case !strings.HasPrefix(name, aliasPlace):
		return server.Invalid("Alias must start with the prefix \"alias/\". Please see " +
			"https://docs.aws.amazon.com/kms/latest/developerguide/kms-alias.html")
	case !aliasName.MatchString(name):
		return server.Invalid("1 validation error detected: Value '" + name + "' at 'aliasName' failed to satisfy " +
			"constraint: Member must satisfy regular expression pattern: ^[a-zA-Z0-9:/_-]+$")
	case strings.HasPrefix(name, managed):
		return &aws.Error{Code: "NotAuthorizedException"}
	}
	return nil
}

func (s *Service) createAlias(_ context.Context, scope aws.Scope, in *aliasRequest) (*none, error) {
	return &none{}, s.realias(scope, "CreateAlias", in, func(a *alias, found bool) error {
		if found {
			return refuse("AlreadyExistsException", "An alias with the name %s already exists", scope.ARN("kms", in.Name))
		}
		a.Name, a.Created = in.Name, s.now()
		return nil
	})
}

func (s *Service) updateAlias(_ context.Context, scope aws.Scope, in *aliasRequest) (*none, error) {
	return &none{}, s.realias(scope, "UpdateAlias", in, func(a *alias, found bool) error {
		if !found {
			return refuse(codeNotFound, "Alias %s is not found.", scope.ARN("kms", in.Name))
		}
		before, err := s.byID(scope, a.Target)
		if err != nil {
			return err
		}
		after, err := s.find(scope, in.Target)
		if err != nil {
			return err
		}
		if before.Usage != after.Usage || (before.Spec == material.Symmetric) != (after.Spec == material.Symmetric) {
			return server.Invalid("The current and the new key of an alias must be of the same type and have the same key usage.")
		}
		return nil
	})
}

// realias points an alias at a key.
func (s *Service) realias(scope aws.Scope, operation string, in *aliasRequest, check func(a *alias, found bool) error) error {
	if err := checkAlias(in.Name); err != nil {
		return err
	}
	if strings.Contains(in.Target, aliasPlace) {
		return server.Invalid("Aliases must refer to keys. Not aliases")
	}
	k, err := s.find(scope, in.Target)
	if err == nil {
		err = k.checkCustomer(scope, operation)
	}
	if err == nil {
		err = k.checkNotPending()
	}
	if err != nil {
		return err
	}
	return s.change(func(b *documents.Batch) error {
		a := &alias{}
		found, err := s.get(place(aliasPlace, scope, in.Name), a)
		if err != nil {
			return err
		}
		if found {
			if target, err := s.byID(scope, a.Target); err != nil {
				return err
			} else if target == nil { // an alias is deleted with its key
				*a, found = alias{}, false
			}
		}
		if err := check(a, found); err != nil {
			return err
		}
		a.Target, a.Changed = k.ID, s.now()
		return s.put(b, place(aliasPlace, scope, in.Name), a)
	})
}

func (s *Service) deleteAlias(_ context.Context, scope aws.Scope, in *aliasRequest) (*none, error) {
	if err := checkAlias(in.Name); err != nil {
		return nil, err
	}
	if _, err := s.byAlias(scope, in.Name); err != nil {
		return nil, err
	}
	return &none{}, s.change(func(b *documents.Batch) error {
		b.Delete(s.table, place(aliasPlace, scope, in.Name))
		return nil
	})
}

type listAliases struct {
	one
	paging
}

type listedAlias struct {
	Name    string      `json:"AliasName"`
	ARN     string      `json:"AliasArn"`
	Target  string      `json:"TargetKeyId,omitempty"`
	Created server.Time `json:"CreationDate"`
	Changed server.Time `json:"LastUpdatedDate"`
}

type aliasList struct {
	Aliases []listedAlias
	nextPage
}

func (s *Service) listAliases(_ context.Context, scope aws.Scope, in *listAliases) (*aliasList, error) {
	only := ""
	if in.Key != "" {
		k, err := s.find(scope, in.Key)
		if err != nil {
			return nil, err
		}
		only = k.ID
	}
	all := []listedAlias{}
	err := s.table.Scan(place(aliasPlace, scope, ""), func(_ string, text []byte) error {
		a := &alias{}
		if err := json.Unmarshal(text, a); err != nil || only != "" && a.Target != only {
			return err
		}
		k, err := s.byID(scope, a.Target)
		if err == nil && k != nil {
			all = append(all, listedAlias{a.Name, scope.ARN("kms", a.Name), a.Target, server.Time(a.Created),
				server.Time(a.Changed)})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &aliasList{}
	out.Aliases, out.nextPage, err = page(in.paging, all, func(a listedAlias) string { return a.Name })
	return out, err
}
