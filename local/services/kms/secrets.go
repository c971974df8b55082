package kms

import (
	"context"
	"encoding/base64"

	"stepback/aws"
	"stepback/local/services/kms/material"
)

// Secrets encrypts for a service of this process, such as SSM or Secrets Manager.
type Secrets struct {
	Service *Service
	// Context is the name in the encryption context of what a value belongs to: PARAMETER_ARN, SecretARN.
	Context string
}

// Encrypt makes a text of a value that Decrypt understands, under a key: its ID, ARN or alias. about is what the value
// belongs to. The error is an *aws.Error of KMS.
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

// Decrypt is the value that Encrypt made a text of.
func (e Secrets) Decrypt(_ context.Context, scope aws.Scope, about, encrypted string) (string, error) {
	ciphertext, err := base64.StdEncoding.DecodeString(encrypted)
	if err != nil {
		return "", material.ErrCiphertext
	}
	out, err := e.Service.opened(scope, "Decrypt", &decrypt{Ciphertext: ciphertext,
		Context: map[string]string{e.Context: about}})
	if err != nil {
		return "", err
	}
	return string(out.Plaintext), nil
}
