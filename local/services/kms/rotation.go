package kms

import (
	"cmp"
	"context"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
	"stepback/local/services/kms/material"
)

// Rotation limits: rotation periods in days, and the number of on-demand rotations.
const (
	leastRotation = 90
	usualRotation = 365
	mostRotation  = 2560
	mostOnDemand  = 25
)

type enableRotation struct {
	one
	Days int `json:"RotationPeriodInDays"`
}

func (s *Service) enableKeyRotation(_ context.Context, scope aws.Scope, in *enableRotation) (*none, error) {
	days := cmp.Or(in.Days, usualRotation)
	if days < leastRotation || days > mostRotation {
		return nil, server.Invalid("RotationPeriodInDays must be between 90 and 2560.")
	}
	return &none{}, s.alter(scope, "EnableKeyRotation", in.Key, func(k *key) error {
		if err := k.checkRotatable(); err != nil {
			return err
		}
		k.RotationDays, k.RotatedFrom = days, s.now()
		return nil
	})
}

func (s *Service) disableKeyRotation(_ context.Context, scope aws.Scope, in *one) (*none, error) {
	return &none{}, s.alter(scope, "DisableKeyRotation", in.Key, func(k *key) error {
		k.RotationDays = 0
		return k.checkRotatable()
	})
}

// checkRotatable returns an error if the key cannot rotate.
func (k *key) checkRotatable() error {
	if err := k.usable("", ""); err != nil {
		return err
	}
	if k.Spec != material.Symmetric {
		return &aws.Error{Code: "UnsupportedOperationException"}
	}
	if k.Imported != nil {
		return k.wrongOrigin()
	}
	return nil
}

// rotate rotates a key that is due, once for each period that has passed.
func (s *Service) rotate(k *key) error {
	period := time.Duration(k.RotationDays) * 24 * time.Hour
	if k.RotationDays == 0 || k.state() != enabled || s.now().Before(k.RotatedFrom.Add(period)) {
		return nil
	}
	return s.change(func(b *documents.Batch) error {
		now, err := s.byID(k.scope, k.ID)
		if err != nil || now == nil {
			return err
		}
		if *k = *now; s.now().Before(k.RotatedFrom.Add(period)) {
			return nil // another call was first
		}
		for !s.now().Before(k.RotatedFrom.Add(period)) {
			k.RotatedFrom = k.RotatedFrom.Add(period)
		}
		if err := s.newMaterial(k, "AUTOMATIC"); err != nil {
			return err
		}
		return s.keep(b, k)
	})
}

type rotationStatus struct {
	Enabled  bool         `json:"KeyRotationEnabled"`
	Key      string       `json:"KeyId"`
	Days     int          `json:"RotationPeriodInDays,omitempty"`
	Next     *server.Time `json:"NextRotationDate,omitempty"`
	OnDemand *server.Time `json:"OnDemandRotationStartDate,omitempty"`
}

func (s *Service) getKeyRotationStatus(_ context.Context, scope aws.Scope, in *one) (*rotationStatus, error) {
	k, err := s.find(scope, in.Key)
	if err == nil {
		err = s.rotate(k)
	}
	if err != nil {
		return nil, err
	}
	if k.Spec != material.Symmetric {
		return nil, &aws.Error{Code: "UnsupportedOperationException"}
	}
	out := &rotationStatus{Enabled: k.RotationDays > 0, Key: k.arn(), Days: k.RotationDays}
	if out.Enabled {
		next := server.Time(k.RotatedFrom.Add(time.Duration(k.RotationDays) * 24 * time.Hour))
		out.Next = &next
	}
	return out, nil
}

func (s *Service) rotateKeyOnDemand(_ context.Context, scope aws.Scope, in *one) (*one, error) {
	out := &one{}
	return out, s.alter(scope, "RotateKeyOnDemand", in.Key, func(k *key) error {
		if err := k.checkRotatable(); err != nil {
			return err
		}
		n := 0
		for _, m := range k.Materials {
			if m.Type == "ON_DEMAND" {
				n++
			}
		}
		if n >= mostOnDemand {
			return refuse("LimitExceededException", "The number of on-demand rotations of %s has reached 25.", k.arn())
		}
		out.Key = k.arn()
		return s.newMaterial(k, "ON_DEMAND")
	})
}

type listRotations struct {
	one
	paging
	Include string `json:"IncludeKeyMaterial"`
}

type rotation struct {
	Key      string       `json:"KeyId"`
	Material string       `json:"KeyMaterialId"`
	State    string       `json:"KeyMaterialState"`
	At       *server.Time `json:"RotationDate,omitempty"`
	Type     string       `json:"RotationType,omitempty"`
	// The members of imported material.
	Import      string       `json:"ImportState,omitempty"`
	Expires     string       `json:"ExpirationModel,omitempty"`
	ValidTo     *server.Time `json:"ValidTo,omitempty"`
	Description string       `json:"KeyMaterialDescription,omitempty"`
}

type rotations struct {
	Rotations []rotation
	nextPage
}

// describeImport adds the members of imported material.
func (r *rotation) describeImport(k *key) {
	about := k.metadata()
	r.Import, r.Expires, r.ValidTo, r.Description = "IMPORTED", about.Expires, about.ValidTo, k.Imported.Description
	if len(k.Materials) == 0 {
		r.Import = "PENDING_IMPORT"
	}
}

func (s *Service) listKeyRotations(_ context.Context, scope aws.Scope, in *listRotations) (*rotations, error) {
	k, err := s.find(scope, in.Key)
	if err == nil {
		err = s.rotate(k)
	}
	if err != nil {
		return nil, err
	}
	all := []rotation{}
	materials := k.Materials
	if k.state() == pendingImport && k.Imported.Former != nil {
		materials = []backing{*k.Imported.Former}
	}
	for i, m := range materials {
		r := rotation{Key: k.arn(), Material: m.ID, State: "NON_CURRENT", Type: m.Type}
		if i == len(materials)-1 {
			r.State = "CURRENT"
		}
		if k.Imported != nil {
			r.describeImport(k)
		}
		if m.Type != "" {
			at := server.Time(m.From)
			r.At = &at
		}
		if m.Type != "" || in.Include == "ALL_KEY_MATERIAL" {
			all = append(all, r)
		}
	}
	out := &rotations{}
	out.Rotations, out.nextPage, err = page(in.paging, all, func(r rotation) string { return r.Material })
	return out, err
}
