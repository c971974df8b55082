package kms

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
	document "stepback/local/services/iam/policy"
	"stepback/local/services/kms/material"
)

// grant is a permission granted to a principal. It is stored and listed, but not evaluated.
type grant struct {
	ID, Token         string
	Name              string `json:",omitempty"`
	Created           time.Time
	Grantee, Retiring string
	Operations        []string
	Constraints       *constraints `json:",omitempty"`
}

type constraints struct {
	Subset map[string]string `json:"EncryptionContextSubset,omitempty"`
	Equals map[string]string `json:"EncryptionContextEquals,omitempty"`
}

type createGrant struct {
	one
	Grantee     string `json:"GranteePrincipal"`
	Retiring    string `json:"RetiringPrincipal"`
	Operations  []string
	Constraints *constraints
	Name        string
	dryRun
}

type createdGrant struct {
	Token string `json:"GrantToken"`
	ID    string `json:"GrantId"`
}

func (s *Service) createGrant(_ context.Context, scope aws.Scope, in *createGrant) (*createdGrant, error) {
	const bytes = 32
	out := &createdGrant{}
	return out, s.alter(scope, "CreateGrant", in.Key, func(k *key) error {
		if err := k.usable("", "CreateGrant"); err != nil {
			return err
		}
		if err := in.fits(k); err != nil {
			return err
		}
		if err := in.check(); err != nil {
			return err
		}
		i := slices.IndexFunc(k.Grants, func(g grant) bool {
			return in.Name != "" && g.Name == in.Name && g.Grantee == in.Grantee && slices.Equal(g.Operations, in.Operations)
		})
		if i >= 0 { // a repeated request
			out.ID, out.Token = k.Grants[i].ID, k.Grants[i].Token
			return nil
		}
		out.ID = hex.EncodeToString(material.Random(bytes))
		out.Token = base64.StdEncoding.EncodeToString(material.Random(bytes))
		k.Grants = append(k.Grants, grant{out.ID, out.Token, in.Name, s.now(), in.Grantee, in.Retiring, in.Operations,
			in.Constraints})
		return nil
	})
}

// fits rejects principals that are none, and operations that the key does not have, as API_CreateGrant documents.
func (in *createGrant) fits(k *key) error {
	for _, name := range []string{in.Grantee, in.Retiring} {
		if name != "" && !document.IsPrincipal(name) {
			return refuse("InvalidArnException", "ARN does not refer to a valid principal: %s", name)
		}
	}
	if len(in.Operations) == 0 {
		return server.Invalid("Operations must not be empty.")
	}
	had := grantable[k.Usage]
	if k.Usage == "ENCRYPT_DECRYPT" && k.Spec != material.Symmetric {
		had = grantable["asymmetric encryption"]
	}
	for _, operation := range in.Operations {
		if !slices.Contains(had, operation) && !slices.Contains(grantable[""], operation) {
			return server.Invalid("Operation " + operation + " is not supported by keys with the usage " + k.Usage +
				" and the spec " + k.Spec + ".")
		}
	}
	return nil
}

// grantable maps usages of keys to the operations that grants can have for them, as listed in the developer guide
// ("Grant operations"); "" has those for all keys.
var grantable = map[string][]string{
	"": {"CreateGrant", "RetireGrant", "DescribeKey"},
	"ENCRYPT_DECRYPT": {"Encrypt", "Decrypt", "ReEncryptFrom", "ReEncryptTo", "GenerateDataKey",
		"GenerateDataKeyWithoutPlaintext", "GenerateDataKeyPair", "GenerateDataKeyPairWithoutPlaintext"},
	"asymmetric encryption": {"Encrypt", "Decrypt", "ReEncryptFrom", "ReEncryptTo", "GetPublicKey"},
	"SIGN_VERIFY":           {"Sign", "Verify", "GetPublicKey"},
	"GENERATE_VERIFY_MAC":   {"GenerateMac", "VerifyMac"},
	"KEY_AGREEMENT":         {"DeriveSharedSecret", "GetPublicKey"},
}

// withTokens returns an operation that refuses grant tokens which CreateGrant has not issued.
func withTokens[In, Out any](s *Service, f func(context.Context, aws.Scope, *In) (*Out, error)) server.Operation {
	o := server.Handle(f)
	call := o.Call
	o.Call = func(ctx context.Context, r *server.Request) (*server.Answer, error) {
		var in struct {
			one
			Tokens []string `json:"GrantTokens"`
		}
		if err := server.Fill(&in, r.Input); err != nil {
			return nil, err
		}
		if len(in.Tokens) > 0 {
			if err := s.checkTokens(r.Scope, in.Key, in.Tokens); err != nil {
				return nil, err
			}
		}
		return call(ctx, r)
	}
	return o.Reading(server.Members{"GrantTokens"})
}

// checkTokens reports an error for a token that belongs to no grant on the keys of the caller's account or of the
// account that the request's key names.
func (s *Service) checkTokens(scope aws.Scope, named string, tokens []string) error {
	scopes := []aws.Scope{scope}
	if arn, ok := aws.ParseARN(named); ok && arn.Scope() != scope {
		scopes = append(scopes, arn.Scope())
	}
	issued := map[string]bool{}
	for _, of := range scopes {
		all, err := s.all(of)
		if err != nil {
			return err
		}
		for _, k := range all {
			for _, g := range k.Grants {
				issued[g.Token] = true
			}
		}
	}
	for _, token := range tokens {
		if !issued[token] {
			return errGrantToken
		}
	}
	return nil
}

var errGrantToken = refuse("InvalidGrantTokenException", "The grant token is not valid.")

type listGrants struct {
	one
	paging
	ID       string `json:"GrantId"`
	Grantee  string `json:"GranteePrincipal"`
	Retiring string `json:"RetiringPrincipal"`
}

type listedGrant struct {
	Key         string      `json:"KeyId"`
	ID          string      `json:"GrantId"`
	Name        string      `json:"Name,omitempty"`
	Created     server.Time `json:"CreationDate"`
	Grantee     string      `json:"GranteePrincipal"`
	Retiring    string      `json:"RetiringPrincipal,omitempty"`
	Account     string      `json:"IssuingAccount"`
	Operations  []string
	Constraints *constraints `json:"Constraints,omitempty"`
}

type grantList struct {
	Grants []listedGrant
	nextPage
}

func (s *Service) listGrants(_ context.Context, scope aws.Scope, in *listGrants) (*grantList, error) {
	k, err := s.find(scope, in.Key)
	if err != nil {
		return nil, err
	}
	return pageOfGrants(in, []*key{k})
}

func (s *Service) listRetirableGrants(_ context.Context, scope aws.Scope, in *listGrants) (*grantList, error) {
	all, err := s.all(scope)
	if err != nil {
		return nil, err
	}
	return pageOfGrants(in, all)
}

func pageOfGrants(in *listGrants, keys []*key) (*grantList, error) {
	all := []listedGrant{}
	for _, k := range keys {
		for _, g := range k.Grants {
			if in.ID != "" && in.ID != g.ID || in.Grantee != "" && in.Grantee != g.Grantee ||
				in.Retiring != "" && in.Retiring != g.Retiring {
				continue
			}
			all = append(all, listedGrant{k.arn(), g.ID, g.Name, server.Time(g.Created), g.Grantee, g.Retiring,
				k.scope.GlobalARN("iam", "root"), g.Operations, g.Constraints})
		}
	}
	out := &grantList{}
	var err error
	out.Grants, out.nextPage, err = page(in.paging, all, func(g listedGrant) string { return g.ID })
	return out, err
}

type removeGrant struct {
	one
	ID    string `json:"GrantId"`
	Token string `json:"GrantToken"`
	dryRun
}

func (s *Service) revokeGrant(_ context.Context, scope aws.Scope, in *removeGrant) (*none, error) {
	return s.removeGrant(scope, in)
}

func (s *Service) retireGrant(_ context.Context, scope aws.Scope, in *removeGrant) (*none, error) {
	if in.Token != "" {
		all, err := s.all(scope)
		if err != nil {
			return nil, err
		}
		for _, k := range all {
			for _, g := range k.Grants {
				if g.Token == in.Token {
					in.Key, in.ID = k.ID, g.ID
				}
			}
		}
		if in.ID == "" {
			return nil, errGrantToken
		}
	}
	return s.removeGrant(scope, in)
}

func (s *Service) removeGrant(scope aws.Scope, in *removeGrant) (*none, error) {
	k, err := s.find(scope, in.Key)
	if err != nil {
		return nil, err
	}
	return &none{}, s.change(func(b *documents.Batch) error {
		if k, err = s.find(k.scope, k.ID); err != nil {
			return err
		}
		i := slices.IndexFunc(k.Grants, func(g grant) bool { return g.ID == in.ID })
		if i < 0 {
			return refuse(codeNotFound, "Grant ID %s not found", in.ID)
		}
		if err := in.check(); err != nil {
			return err
		}
		k.Grants = slices.Delete(k.Grants, i, i+1)
		return s.keep(b, k)
	})
}
