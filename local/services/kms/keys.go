package kms

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
	"stepback/local/services/kms/material"
)

type createKey struct {
	Policy      string
	Description string
	Usage       string `json:"KeyUsage"`
	OldSpec     string `json:"CustomerMasterKeySpec"`
	Spec        string `json:"KeySpec"`
	Origin      string
	Store       string `json:"CustomKeyStoreId"`
	Outside     string `json:"XksKeyId"`
	Tags        []tag
	MultiRegion bool
	Bypass      bool `json:"BypassPolicyLockoutSafetyCheck"`
}

type described struct {
	Key *metadata `json:"KeyMetadata"`
}

func (s *Service) createKey(_ context.Context, scope aws.Scope, in *createKey) (*described, error) {
	switch {
	case in.Origin != "" && in.Origin != ofKMS && in.Origin != external:
		return nil, unsupported("The key origin " + in.Origin)
	case in.Store != "" || in.Outside != "":
		return nil, unsupported("A custom key store")
	}
	if in.Policy != "" {
		if err := checkPolicy(scope, in.Policy, in.Bypass); err != nil {
			return nil, err
		}
	}
	k := &key{scope: scope, ID: aws.NewID(), Spec: cmp.Or(in.Spec, in.OldSpec, material.Symmetric), Usage: in.Usage,
		Description: in.Description, Manager: "CUSTOMER", MultiRegion: in.MultiRegion, Policy: in.Policy}
	spec, err := material.SpecOf(k.Spec)
	if err != nil {
		return nil, err
	}
	switch {
	case k.Usage == "" && (len(spec.Usages) == 1 || k.Spec == material.Symmetric):
		k.Usage = spec.Usages[0]
	case k.Usage == "":
		return nil, server.Invalid("You must specify a KeyUsage value for all KMS keys except for symmetric encryption keys.")
	case !slices.Contains(spec.Usages, k.Usage):
		return nil, server.Invalid("KeyUsage " + k.Usage + " is not compatible with KeySpec " + k.Spec)
	}
	if k.MultiRegion {
		const bytes = 16
		k.ID = "mrk-" + hex.EncodeToString(material.Random(bytes))
	}
	if in.Origin == external {
		k.Imported = &imported{}
	}
	if k.Tags, err = withTags(nil, in.Tags); err != nil {
		return nil, err
	}
	if err := s.create(k); err != nil {
		return nil, err
	}
	return &described{k.metadata()}, nil
}

// create generates the material of a key, unless it is to be imported, and stores both.
func (s *Service) create(k *key) error {
	k.Created = s.now()
	k.RotatedFrom = k.Created
	if k.Imported == nil {
		if err := s.newMaterial(k, ""); err != nil {
			return err
		}
	}
	return s.change(func(b *documents.Batch) error { return s.keep(b, k) })
}

func (s *Service) describeKey(_ context.Context, scope aws.Scope, in *one) (*described, error) {
	k, err := s.find(scope, in.Key)
	if err != nil {
		return nil, err
	}
	if err := s.rotate(k); err != nil {
		return nil, err
	}
	return &described{k.metadata()}, nil
}

type listedKey struct {
	ID  string `json:"KeyId"`
	ARN string `json:"KeyArn"`
}

type keyList struct {
	Keys []listedKey
	nextPage
}

func (s *Service) listKeys(_ context.Context, scope aws.Scope, in *paging) (*keyList, error) {
	all, err := s.all(scope)
	if err != nil {
		return nil, err
	}
	out := &keyList{Keys: []listedKey{}}
	all, out.nextPage, err = page(*in, all, func(k *key) string { return k.ID })
	for _, k := range all {
		out.Keys = append(out.Keys, listedKey{k.ID, k.arn()})
	}
	return out, err
}

// alter applies change to the key that a request of an operation names. Operations on keys themselves accept an ID or
// an ARN, but no alias, and no AWS managed key.
func (s *Service) alter(scope aws.Scope, operation, named string, change func(*key) error) error {
	if strings.Contains(named, aliasPlace) {
		return refuse("InvalidArnException", "Invalid keyId %s", named)
	}
	k, err := s.find(scope, named)
	if err == nil {
		err = k.checkCustomer(scope, operation)
	}
	if err != nil {
		return err
	}
	return s.change(func(b *documents.Batch) error {
		if k, err = s.find(k.scope, k.ID); err != nil { // re-read its current state
			return err
		}
		if err := change(k); err != nil {
			return err
		}
		return s.keep(b, k)
	})
}

// checkCustomer returns an error if AWS manages the key. The policies of such keys allow no principal to change them.
func (k *key) checkCustomer(caller aws.Scope, operation string) error {
	if k.Manager != managedByAWS {
		return nil
	}
	return refuse("AccessDeniedException", "User: %s is not authorized to perform: kms:%s on resource: %s because no "+
		"resource-based policy allows the kms:%s action", caller.GlobalARN("iam", "root"), operation, k.arn(), operation)
}

func (s *Service) enableKey(_ context.Context, scope aws.Scope, in *one) (*none, error) {
	return &none{}, s.alter(scope, "EnableKey", in.Key, func(k *key) error {
		k.Disabled = false
		return k.checkHasMaterial()
	})
}

func (s *Service) disableKey(_ context.Context, scope aws.Scope, in *one) (*none, error) {
	return &none{}, s.alter(scope, "DisableKey", in.Key, func(k *key) error {
		k.Disabled = true
		return k.checkHasMaterial()
	})
}

type updateDescription struct {
	one
	Description string
}

func (s *Service) updateKeyDescription(_ context.Context, scope aws.Scope, in *updateDescription) (*none, error) {
	return &none{}, s.alter(scope, "UpdateKeyDescription", in.Key, func(k *key) error {
		k.Description = in.Description
		return k.checkNotPending()
	})
}

type scheduleDeletion struct {
	one
	Days int `json:"PendingWindowInDays"`
}

type scheduledDeletion struct {
	ID    string       `json:"KeyId"`
	At    *server.Time `json:"DeletionDate,omitempty"`
	State string       `json:"KeyState"`
	Days  int          `json:"PendingWindowInDays"`
}

func (s *Service) scheduleKeyDeletion(_ context.Context, scope aws.Scope, in *scheduleDeletion) (*scheduledDeletion,
	error) {
	const least, most = 7, 30
	days := cmp.Or(in.Days, most)
	if days < least || days > most {
		return nil, server.Invalid("PendingWindowInDays must be between 7 and 30.")
	}
	out := &scheduledDeletion{State: pendingDeletion, Days: days}
	return out, s.alter(scope, "ScheduleKeyDeletion", in.Key, func(k *key) error {
		if err := k.checkNotPending(); err != nil {
			return err
		}
		k.Deletion = s.now().Add(time.Duration(days) * 24 * time.Hour)
		at := server.Time(k.Deletion)
		out.ID, out.At = k.arn(), &at
		return nil
	})
}

func (s *Service) cancelKeyDeletion(_ context.Context, scope aws.Scope, in *one) (*one, error) {
	out := &one{}
	return out, s.alter(scope, "CancelKeyDeletion", in.Key, func(k *key) error {
		if k.state() != pendingDeletion {
			return refuse("KMSInvalidStateException", "%s is not pending deletion.", k.arn())
		}
		k.Deletion, k.Disabled = time.Time{}, true
		out.Key = k.arn()
		return nil
	})
}
