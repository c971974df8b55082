package kms

import (
	"context"
	"encoding/base64"

	"stepback/aws"
	"stepback/local/services/kms/material"
)

// Secrets encrypts values for another service in this process, such as SSM or Secrets Manager.
type Secrets struct {
	Service *Service
	// Context is the encryption context key that names the owner of a value: PARAMETER_ARN, SecretARN.
	Context string
}

// ARN returns the ARN of the key with an alias. The keys that AWS manages, such as alias/aws/dynamodb, are created on
// first use. The error is an *aws.Error.
func (s *Service) ARN(scope aws.Scope, alias string) (string, error) {
	k, err := s.byAlias(scope, alias)
	if err != nil {
		return "", err
	}
	return k.arn(), nil
}

// Encrypt encrypts value under a key, given by ID, ARN or alias, and returns text that Decrypt understands. about is
// the ARN of the value's owner. The error is an *aws.Error of KMS.
func (e Secrets) Encrypt(_ context.Context, scope aws.Scope, key, about, value string) (string, error) {
	k, err := e.Service.usable(scope, key, material.EncryptDecrypt, "Encrypt")
	if err != nil {
		return "", err
	}
	algorithm, err := k.algorithm("")
	if err != nil {
		return "", err
	}
	sealed, err := e.Service.seal(k, algorithm, []byte(value), map[string]string{e.Context: about})
	return base64.StdEncoding.EncodeToString(sealed), err
}

// Decrypt returns the value that Encrypt encrypted.
func (e Secrets) Decrypt(_ context.Context, scope aws.Scope, about, encrypted string) (string, error) {
	ciphertext, err := base64.StdEncoding.DecodeString(encrypted)
	if err != nil {
		return "", material.ErrCiphertext
	}
	out, err := e.Service.openCiphertext(scope, "Decrypt", &decrypt{Ciphertext: ciphertext,
		Context: map[string]string{e.Context: about}})
	if err != nil {
		return "", err
	}
	return string(out.Plaintext), nil
}
