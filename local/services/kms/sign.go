package kms

import (
	"context"
	"crypto/hmac"
	"slices"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/kms/material"
)

type sign struct {
	one
	Message   []byte
	Type      string `json:"MessageType"`
	Algorithm string `json:"SigningAlgorithm"`
	Signature []byte
	dryRun
}

type signed struct {
	Key       string `json:"KeyId"`
	Signature []byte
	Algorithm string `json:"SigningAlgorithm"`
}

// signingKey returns the key that a request names and its private key.
func (s *Service) signingKey(scope aws.Scope, in *sign, operation string) (*key, []byte, error) {
	k, err := s.usable(scope, in.Key, material.SignVerify, operation)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(k.spec().Signing, in.Algorithm) {
		return nil, nil, refuse("InvalidKeyUsageException", "Algorithm %s is incompatible with key spec %s.", in.Algorithm,
			k.Spec)
	}
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	private, err := s.material(k)
	return k, private, err
}

func (s *Service) sign(_ context.Context, scope aws.Scope, in *sign) (*signed, error) {
	k, private, err := s.signingKey(scope, in, "Sign")
	if err != nil {
		return nil, err
	}
	signature, err := material.Sign(private, in.Algorithm, in.Message, in.Type == "DIGEST")
	if err != nil {
		return nil, err
	}
	return &signed{k.arn(), signature, in.Algorithm}, nil
}

type verified struct {
	Key       string `json:"KeyId"`
	Valid     bool   `json:"SignatureValid"`
	Algorithm string `json:"SigningAlgorithm"`
}

func (s *Service) verify(_ context.Context, scope aws.Scope, in *sign) (*verified, error) {
	k, private, err := s.signingKey(scope, in, "Verify")
	if err != nil {
		return nil, err
	}
	ok, err := material.Verify(private, in.Algorithm, in.Message, in.Signature, in.Type == "DIGEST")
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, &aws.Error{Code: "KMSInvalidSignatureException"}
	}
	return &verified{k.arn(), true, in.Algorithm}, nil
}

type publicKey struct {
	Key        string   `json:"KeyId"`
	Public     []byte   `json:"PublicKey"`
	OldSpec    string   `json:"CustomerMasterKeySpec"`
	Spec       string   `json:"KeySpec"`
	Usage      string   `json:"KeyUsage"`
	Encryption []string `json:"EncryptionAlgorithms,omitempty"`
	Signing    []string `json:"SigningAlgorithms,omitempty"`
	Agreement  []string `json:"KeyAgreementAlgorithms,omitempty"`
}

func (s *Service) getPublicKey(_ context.Context, scope aws.Scope, in *one) (*publicKey, error) {
	k, err := s.usable(scope, in.Key, "", "GetPublicKey")
	if err != nil {
		return nil, err
	}
	if k.spec().IsSecret() {
		return nil, &aws.Error{Code: "UnsupportedOperationException"}
	}
	private, err := s.material(k)
	if err != nil {
		return nil, err
	}
	public, err := material.Public(private)
	if err != nil {
		return nil, err
	}
	m := k.metadata()
	return &publicKey{k.arn(), public, k.Spec, k.Spec, k.Usage, m.Encryption, m.Signing, m.Agreement}, nil
}

type mac struct {
	one
	Message   []byte
	Algorithm string `json:"MacAlgorithm"`
	MAC       []byte `json:"Mac"`
	dryRun
}

type generatedMAC struct {
	MAC       []byte `json:"Mac"`
	Algorithm string `json:"MacAlgorithm"`
	Key       string `json:"KeyId"`
}

// computeMAC returns the key that a request names and the MAC of the message.
func (s *Service) computeMAC(scope aws.Scope, in *mac, operation string) (*key, []byte, error) {
	k, err := s.usable(scope, in.Key, material.GenerateVerifyMAC, operation)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(k.spec().MAC, in.Algorithm) {
		return nil, nil, refuse("InvalidKeyUsageException", "Algorithm %s is incompatible with key spec %s.", in.Algorithm,
			k.Spec)
	}
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	secret, err := s.material(k)
	if err != nil {
		return nil, nil, err
	}
	code, err := material.MAC(secret, in.Algorithm, in.Message)
	return k, code, err
}

func (s *Service) generateMAC(_ context.Context, scope aws.Scope, in *mac) (*generatedMAC, error) {
	k, code, err := s.computeMAC(scope, in, "GenerateMac")
	if err != nil {
		return nil, err
	}
	return &generatedMAC{code, in.Algorithm, k.arn()}, nil
}

type verifiedMAC struct {
	Key       string `json:"KeyId"`
	Valid     bool   `json:"MacValid"`
	Algorithm string `json:"MacAlgorithm"`
}

func (s *Service) verifyMAC(_ context.Context, scope aws.Scope, in *mac) (*verifiedMAC, error) {
	k, code, err := s.computeMAC(scope, in, "VerifyMac")
	switch {
	case err != nil:
		return nil, err
	case !hmac.Equal(code, in.MAC):
		return nil, &aws.Error{Code: "KMSInvalidMacException"}
	}
	return &verifiedMAC{k.arn(), true, in.Algorithm}, nil
}

type deriveSecret struct {
	one
	Algorithm string          `json:"KeyAgreementAlgorithm"`
	Public    []byte          `json:"PublicKey"`
	For       jsonvalue.Value `json:"Recipient"`
	dryRun
}

type derivedSecret struct {
	Key       string `json:"KeyId"`
	Secret    []byte `json:"SharedSecret"`
	Algorithm string `json:"KeyAgreementAlgorithm"`
	Origin    string `json:"KeyOrigin"`
	*forRecipient
}

func (s *Service) deriveSharedSecret(_ context.Context, scope aws.Scope, in *deriveSecret) (*derivedSecret, error) {
	if err := (recipient{in.For}).check(); err != nil {
		return nil, err
	}
	k, err := s.usable(scope, in.Key, material.KeyAgreement, "DeriveSharedSecret")
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return nil, err
	}
	private, err := s.material(k)
	if err != nil {
		return nil, err
	}
	secret, err := material.Agree(private, in.Public)
	if err != nil {
		return nil, refuse("ValidationException", "The public key is not valid for this key: %s", err.Error())
	}
	return &derivedSecret{Key: k.arn(), Secret: secret, Algorithm: in.Algorithm, Origin: "AWS_KMS"}, nil
}
