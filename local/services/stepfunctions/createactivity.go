package stepfunctions

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/aws/server"
)

type createActivityRequest struct {
	Name       string      `json:"name"`
	Tags       []tag       `json:"tags"`
	Encryption *Encryption `json:"encryptionConfiguration"`
}

type createActivityResponse struct {
	ARN     string      `json:"activityArn"`
	Created server.Time `json:"creationDate"`
}

func (s *Service) createActivity(_ context.Context, scope aws.Scope,
	in *createActivityRequest) (*createActivityResponse, error) {
	if !validName(in.Name) {
		return nil, invalidName(in.Name)
	}
	encryption, err := encryptionOf(in.Encryption)
	if err != nil {
		return nil, err
	}
	a := &Activity{
		ARN: activityARNOf(scope, in.Name), Name: in.Name, Encryption: encryption,
		Tags: map[string]string{},
	}
	if err := setTags(a.ARN, a.Tags, in.Tags); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.cfg.Store.Activity(a.ARN)
	switch {
	case errors.Is(err, ErrNotFound):
		a.Created = s.creation()
		err = s.cfg.Store.PutActivity(a)
	case err == nil && old.Encryption != a.Encryption:
		err = failure("ActivityAlreadyExists", "Activity Already Exists", a.ARN)
	case err == nil:
		a = old
	}
	if err != nil {
		return nil, err
	}
	return &createActivityResponse{a.ARN, server.Time(a.Created)}, nil
}
