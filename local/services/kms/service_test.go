package kms_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/kms"
)

// bench is a service in virtual time with an AWS client for it.
type bench struct {
	*client.Client
	t       *testing.T
	dir     string
	clock   *clock.Clock
	kept    *documents.Store
	service *kms.Service
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), clock: clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))}
	b.open()
	t.Cleanup(func() {
		_ = b.kept.Close()
		b.clock.Close()
	})
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.kept, err = documents.Open(filepath.Join(b.dir, "documents"), nil); err != nil {
		b.t.Fatal(err)
	}
	b.service = kms.New(kms.Options{Dir: filepath.Join(b.dir, "kms"), Documents: b.kept, Clock: b.clock})
	b.Client = client.New(client.Options{BaseEndpoint: sdk.String(loopback.URL), Region: "eu-west-1", RetryMaxAttempts: 1,
		HTTPClient:  loopback.Client(b.service.Handler()),
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
}

func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create(in client.CreateKeyInput) *types.KeyMetadata {
	b.t.Helper()
	out, err := b.CreateKey(b.t.Context(), &in)
	if err != nil {
		b.t.Fatal(err)
	}
	return out.KeyMetadata
}

func (b *bench) encrypt(key *string, text string, context map[string]string) []byte {
	b.t.Helper()
	out, err := b.Encrypt(b.t.Context(), &client.EncryptInput{KeyId: key, Plaintext: []byte(text),
		EncryptionContext: context})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.CiphertextBlob
}

func (b *bench) decrypt(ciphertext []byte, context map[string]string) (string, error) {
	b.t.Helper()
	out, err := b.Decrypt(b.t.Context(), &client.DecryptInput{CiphertextBlob: ciphertext, EncryptionContext: context})
	if err != nil {
		return "", err
	}
	return string(out.Plaintext), nil
}

func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || !strings.Contains(e.ErrorMessage(), message) {
		t.Errorf("got %v, want %s: %s", err, code, message)
	}
}

func TestEncryption(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := b.create(client.CreateKeyInput{Description: sdk.String("mine")})
	context := map[string]string{"purpose": "test", "a": "b"}
	ciphertext := b.encrypt(k.Arn, "hello", context)
	_ = b.kept.Close()
	b.open()
	if got, err := b.decrypt(ciphertext, context); err != nil || got != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, wrong := range []map[string]string{nil, {"purpose": "test"}, {"purpose": "testa", "": "b"}} {
		_, err := b.decrypt(ciphertext, wrong)
		refused(t, err, "InvalidCiphertextException", "")
	}
	for i := range ciphertext {
		changed := append([]byte{}, ciphertext...)
		changed[i] ^= 1
		if got, err := b.decrypt(changed, context); err == nil {
			t.Errorf("with byte %d changed: %q", i, got)
		}
	}
	other := b.create(client.CreateKeyInput{})
	_, err := b.Decrypt(t.Context(), &client.DecryptInput{CiphertextBlob: ciphertext, EncryptionContext: context,
		KeyId: other.KeyId})
	refused(t, err, "IncorrectKeyException", "The key ID in the request does not identify a CMK that can perform this operation.")
	again, err := b.ReEncrypt(t.Context(), &client.ReEncryptInput{CiphertextBlob: ciphertext,
		SourceEncryptionContext: context,
		DestinationKeyId:        other.KeyId})
	if err != nil || *again.SourceKeyId != *k.Arn || *again.KeyId != *other.Arn {
		t.Fatal(again, err)
	}
	if got, err := b.decrypt(again.CiphertextBlob, nil); err != nil || got != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	data, err := b.GenerateDataKey(t.Context(), &client.GenerateDataKeyInput{KeyId: k.KeyId, KeySpec: "AES_256"})
	if err != nil || len(data.Plaintext) != 32 {
		t.Fatal(data, err)
	}
	if got, err := b.decrypt(data.CiphertextBlob, nil); err != nil || got != string(data.Plaintext) {
		t.Errorf("the data key: %v", err)
	}
	_, err = b.GenerateDataKey(t.Context(), &client.GenerateDataKeyInput{KeyId: k.KeyId})
	refused(t, err, "ValidationException", "Please specify either number of bytes or key spec.")
	_, err = b.Sign(t.Context(), &client.SignInput{KeyId: k.KeyId, Message: []byte("x"), SigningAlgorithm: "ECDSA_SHA_256"})
	refused(t, err, "InvalidKeyUsageException", "key usage is ENCRYPT_DECRYPT which is not valid for Sign.")
	err = filepath.WalkDir(filepath.Join(b.dir, "kms"), func(path string, d fs.DirEntry, err error) error {
		if info, e := d.Info(); e == nil && !d.IsDir() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	message, sum := []byte("a message"), sha256.Sum256([]byte("a message"))
	for spec, algorithms := range map[types.KeySpec][]types.SigningAlgorithmSpec{
		"RSA_2048":      {"RSASSA_PSS_SHA_256", "RSASSA_PKCS1_V1_5_SHA_256", "RSASSA_PSS_SHA_512"},
		"ECC_NIST_P256": {"ECDSA_SHA_256"}, "ECC_NIST_P521": {"ECDSA_SHA_512"},
		"ECC_NIST_EDWARDS25519": {"ED25519_SHA_512"},
	} {
		k := b.create(client.CreateKeyInput{KeySpec: spec, KeyUsage: "SIGN_VERIFY"})
		public, err := b.GetPublicKey(t.Context(), &client.GetPublicKeyInput{KeyId: k.KeyId})
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := x509.ParsePKIXPublicKey(public.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		for _, algorithm := range algorithms {
			out, err := b.Sign(t.Context(), &client.SignInput{KeyId: k.KeyId, Message: message,
				SigningAlgorithm: algorithm})
			if err != nil {
				t.Fatal(err)
			}
			verify := func(message, signature []byte) error {
				_, err := b.Verify(t.Context(), &client.VerifyInput{KeyId: k.KeyId, Message: message,
					Signature:        signature,
					SigningAlgorithm: algorithm})
				return err
			}
			if err := verify(message, out.Signature); err != nil {
				t.Errorf("%s: %v", algorithm, err)
			}
			refused(t, verify([]byte("another"), out.Signature), "KMSInvalidSignatureException", "")
			switch public := parsed.(type) { // checks that holders of the public key accept it
			case *rsa.PublicKey:
				if algorithm == "RSASSA_PKCS1_V1_5_SHA_256" && rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], out.Signature) != nil {
					t.Errorf("%s is no signature", algorithm)
				}
			case *ecdsa.PublicKey:
				if algorithm == "ECDSA_SHA_256" && !ecdsa.VerifyASN1(public, sum[:], out.Signature) {
					t.Errorf("%s is no signature", algorithm)
				}
			}
		}
	}
	rsaKey := b.create(client.CreateKeyInput{KeySpec: "RSA_2048", KeyUsage: "ENCRYPT_DECRYPT"})
	public, err := b.GetPublicKey(t.Context(), &client.GetPublicKeyInput{KeyId: rsaKey.KeyId})
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := x509.ParsePKIXPublicKey(public.PublicKey)
	outside, err := rsa.EncryptOAEP(sha256.New(), rand.Reader,
		parsed.(*rsa.PublicKey), message, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Decrypt(t.Context(), &client.DecryptInput{KeyId: rsaKey.KeyId, CiphertextBlob: outside,
		EncryptionAlgorithm: "RSAES_OAEP_SHA_256"})
	if err != nil || string(out.Plaintext) != "a message" {
		t.Errorf("got %v, %v", out, err)
	}
	mac := b.create(client.CreateKeyInput{KeySpec: "HMAC_256", KeyUsage: "GENERATE_VERIFY_MAC"})
	code, err := b.GenerateMac(t.Context(), &client.GenerateMacInput{KeyId: mac.KeyId, Message: message, MacAlgorithm: "HMAC_SHA_256"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.VerifyMac(t.Context(), &client.VerifyMacInput{KeyId: mac.KeyId, Message: message, MacAlgorithm: "HMAC_SHA_256", Mac: code.Mac})
	if err != nil {
		t.Error(err)
	}
	_, err = b.VerifyMac(t.Context(), &client.VerifyMacInput{KeyId: mac.KeyId, Message: []byte("x"), MacAlgorithm: "HMAC_SHA_256", Mac: code.Mac})
	refused(t, err, "KMSInvalidMacException", "")
	_, err = b.CreateKey(t.Context(), &client.CreateKeyInput{KeySpec: "SM2", KeyUsage: "SIGN_VERIFY"})
	refused(t, err, "UnsupportedOperationException", "SM2")
}

func TestStatesAndAliases(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := b.create(client.CreateKeyInput{Tags: []types.Tag{{TagKey: sdk.String("a"), TagValue: sdk.String("1")}}})
	name := sdk.String("alias/mine")
	alias := &client.CreateAliasInput{AliasName: name, TargetKeyId: k.KeyId}
	if _, err := b.CreateAlias(t.Context(), alias); err != nil {
		t.Fatal(err)
	}
	_, err := b.CreateAlias(t.Context(), alias)
	refused(t, err, "AlreadyExistsException", "An alias with the name arn:aws:kms:eu-west-1:111111111111:alias/mine already exists")
	ciphertext := b.encrypt(name, "hello", nil)
	if _, err := b.DisableKey(t.Context(), &client.DisableKeyInput{KeyId: k.KeyId}); err != nil {
		t.Fatal(err)
	}
	_, err = b.decrypt(ciphertext, nil)
	refused(t, err, "DisabledException", *k.Arn+" is disabled.")
	if _, err := b.EnableKey(t.Context(), &client.EnableKeyInput{KeyId: k.KeyId}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.EnableKeyRotation(t.Context(), &client.EnableKeyRotationInput{KeyId: k.KeyId}); err != nil {
		t.Fatal(err)
	}
	b.pass(400 * 24 * time.Hour)
	rotations, err := b.ListKeyRotations(t.Context(), &client.ListKeyRotationsInput{KeyId: k.KeyId})
	if err != nil || len(rotations.Rotations) != 1 || rotations.Rotations[0].RotationType != "AUTOMATIC" {
		t.Errorf("rotations %+v, %v", rotations, err)
	}
	if got, err := b.decrypt(ciphertext, nil); err != nil || got != "hello" {
		t.Errorf("after a rotation: %q, %v", got, err)
	}
	grant, err := b.CreateGrant(t.Context(), &client.CreateGrantInput{KeyId: k.KeyId, GranteePrincipal: sdk.String("arn:aws:iam::111111111111:role/reader"),
		Operations: []types.GrantOperation{"Encrypt"}})
	if err != nil {
		t.Fatal(err)
	}
	grants, err := b.ListGrants(t.Context(), &client.ListGrantsInput{KeyId: k.KeyId})
	if err != nil || len(grants.Grants) != 1 || *grants.Grants[0].GrantId != *grant.GrantId {
		t.Errorf("grants %+v, %v", grants, err)
	}
	if _, err := b.RevokeGrant(t.Context(), &client.RevokeGrantInput{KeyId: k.KeyId,
		GrantId: grant.GrantId}); err != nil {
		t.Error(err)
	}
	policy, err := b.GetKeyPolicy(t.Context(), &client.GetKeyPolicyInput{KeyId: k.KeyId})
	if err != nil || !strings.Contains(*policy.Policy, "arn:aws:iam::111111111111:root") {
		t.Errorf("policy %+v, %v", policy, err)
	}
	if _, err := b.ScheduleKeyDeletion(t.Context(), &client.ScheduleKeyDeletionInput{KeyId: k.KeyId,
		PendingWindowInDays: sdk.Int32(7)}); err != nil {
		t.Fatal(err)
	}
	_, err = b.decrypt(ciphertext, nil)
	refused(t, err, "KMSInvalidStateException", *k.Arn+" is pending deletion.")
	b.pass(7 * 24 * time.Hour)
	_, err = b.DescribeKey(t.Context(), &client.DescribeKeyInput{KeyId: k.Arn})
	refused(t, err, "NotFoundException", "Key '"+*k.Arn+"' does not exist")
	_, err = b.DescribeKey(t.Context(), &client.DescribeKeyInput{KeyId: name})
	refused(t, err, "NotFoundException", "Alias arn:aws:kms:eu-west-1:111111111111:alias/mine is not found.")
	left, err := os.ReadDir(filepath.Join(b.dir, "kms"))
	if err != nil || len(left) != 0 {
		t.Errorf("material is left: %v, %v", left, err)
	}
	b.encrypt(sdk.String("alias/aws/ssm"), "made on demand", nil)
	aliases, err := b.ListAliases(t.Context(), &client.ListAliasesInput{})
	if err != nil || len(aliases.Aliases) != 1 || *aliases.Aliases[0].AliasName != "alias/aws/ssm" {
		t.Errorf("aliases %+v, %v", aliases, err)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	scope := aws.Scope{Account: "111111111111", Region: "eu-west-1"}
	secrets := kms.Secrets{Service: b.service, Context: "PARAMETER_ARN"}
	text, err := secrets.Encrypt(t.Context(), scope, "alias/aws/ssm", "arn:1", "hidden")
	if err != nil || strings.Contains(text, "hidden") {
		t.Fatal(text, err)
	}
	if got, err := secrets.Decrypt(t.Context(), scope, "arn:1", text); err != nil || got != "hidden" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := secrets.Decrypt(t.Context(), scope, "arn:2", text); err == nil {
		t.Errorf("for another parameter: %q", got)
	}
}

func TestLongPlaintextAndRepeatedTags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := b.create(client.CreateKeyInput{KeySpec: types.KeySpecRsa2048, KeyUsage: types.KeyUsageTypeEncryptDecrypt})
	for algorithm, most := range map[types.EncryptionAlgorithmSpec]int{
		types.EncryptionAlgorithmSpecRsaesOaepSha256: 190,
		types.EncryptionAlgorithmSpecRsaesOaepSha1:   214} {
		_, err := b.Encrypt(t.Context(), &client.EncryptInput{KeyId: k.KeyId, EncryptionAlgorithm: algorithm,
			Plaintext: make([]byte, most+1)})
		refused(t, err, "ValidationException", fmt.Sprintf("Algorithm %s and key spec RSA_2048 cannot encrypt data larger than %d bytes.",
			algorithm, most))
		if _, err := b.Encrypt(t.Context(), &client.EncryptInput{KeyId: k.KeyId, EncryptionAlgorithm: algorithm,
			Plaintext: make([]byte, most)}); err != nil {
			t.Error(err)
		}
	}
	twice := types.Tag{TagKey: sdk.String("a"), TagValue: sdk.String("1")}
	_, err := b.TagResource(t.Context(), &client.TagResourceInput{KeyId: k.KeyId, Tags: []types.Tag{twice, twice}})
	refused(t, err, "TagException", "Duplicate tag keys")
	_, err = b.CreateKey(t.Context(), &client.CreateKeyInput{Tags: []types.Tag{twice, twice}})
	refused(t, err, "TagException", "Duplicate tag keys")
}
