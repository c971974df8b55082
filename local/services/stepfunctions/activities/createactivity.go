package activities

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/resource"
	"stepback/local/services/stepfunctions/tags"
)

type createActivityRequest struct {
	Name       string                    `json:"name"`
	Tags       []tags.Tag                `json:"tags"`
	Encryption *configuration.Encryption `json:"encryptionConfiguration"`
}

type createActivityResponse struct {
	ARN     string      `json:"activityArn"`
	Created server.Time `json:"creationDate"`
}

func (s *Service) createActivity(_ context.Context, scope aws.Scope,
	in *createActivityRequest) (*createActivityResponse, error) {
	if !aws.ValidStatesName(in.Name) {
		return nil, apierror.InvalidName(in.Name)
	}
	encryption, err := configuration.EncryptionOf(in.Encryption)
	if err != nil {
		return nil, err
	}
	a := &Activity{
		ARN: resource.ActivityARN(scope, in.Name), Name: in.Name, Encryption: encryption,
		Tags: map[string]string{},
	}
	if err := tags.Set(a.ARN, a.Tags, in.Tags); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.cfg.Store.Activity(a.ARN)
	switch {
	case errors.Is(err, ErrNotFound):
		a.Created = s.created.Next(s.cfg.Now())
		err = s.cfg.Store.PutActivity(a)
	case err == nil && old.Encryption != a.Encryption:
		err = apierror.New("ActivityAlreadyExists", "Activity Already Exists", a.ARN)
	case err == nil:
		a = old
	}
	if err != nil {
		return nil, err
	}
	return &createActivityResponse{a.ARN, server.Time(a.Created)}, nil
}
