package kms_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"stepback/local/services/inventory"
	"stepback/local/services/kms"
)

// wrapped returns parameters for an import and the material under their wrapping key.
func (b *bench) wrapped(key *string, secret []byte) *client.ImportKeyMaterialInput {
	b.t.Helper()
	p, err := b.GetParametersForImport(b.t.Context(), &client.GetParametersForImportInput{KeyId: key,
		WrappingAlgorithm: types.AlgorithmSpecRsaesOaepSha256, WrappingKeySpec: types.WrappingKeySpecRsa2048})
	if err != nil {
		b.t.Fatal(err)
	}
	if want := b.clock.Now().Add(24 * time.Hour); !p.ParametersValidTo.Equal(want) {
		b.t.Errorf("valid to %s, want %s", p.ParametersValidTo, want)
	}
	public, err := x509.ParsePKIXPublicKey(p.PublicKey)
	if err != nil {
		b.t.Fatal(err)
	}
	sealed, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, public.(*rsa.PublicKey), secret, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return &client.ImportKeyMaterialInput{KeyId: key, ImportToken: p.ImportToken, EncryptedKeyMaterial: sealed,
		ExpirationModel: types.ExpirationModelTypeKeyMaterialDoesNotExpire}
}

func (b *bench) imports(in *client.ImportKeyMaterialInput) *client.ImportKeyMaterialOutput {
	b.t.Helper()
	out, err := b.ImportKeyMaterial(b.t.Context(), in)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) describe(key *string) *types.KeyMetadata {
	b.t.Helper()
	out, err := b.DescribeKey(b.t.Context(), &client.DescribeKeyInput{KeyId: key})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.KeyMetadata
}

// files returns how many files of material there are.
func (b *bench) files() int {
	b.t.Helper()
	all, err := os.ReadDir(filepath.Join(b.dir, "kms"))
	if err != nil {
		b.t.Fatal(err)
	}
	return len(slices.DeleteFunc(all, func(e os.DirEntry) bool { return e.Name() == "import-tokens" }))
}

// TestImportedMaterial imports the material of a key, lets it expire, imports it again, and deletes it.
func TestImportedMaterial(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := b.create(client.CreateKeyInput{Origin: types.OriginTypeExternal})
	if k.KeyState != types.KeyStatePendingImport || k.Enabled || k.Origin != "EXTERNAL" || k.CurrentKeyMaterialId != nil {
		t.Errorf("created: %+v", k)
	}
	_, err := b.Encrypt(t.Context(), &client.EncryptInput{KeyId: k.KeyId, Plaintext: []byte("x")})
	refused(t, err, "KMSInvalidStateException", *k.Arn+" is pending import.")
	_, err = b.EnableKey(t.Context(), &client.EnableKeyInput{KeyId: k.KeyId})
	refused(t, err, "KMSInvalidStateException", "is pending import.")

	secret := bytes.Repeat([]byte{7}, 32)
	in := b.wrapped(k.KeyId, secret)
	_ = b.kept.Close()
	b.open() // a token is valid after a restart
	until := b.clock.Now().Add(30 * 24 * time.Hour)
	in.ExpirationModel, in.ValidTo, in.KeyMaterialDescription = "", &until, sdk.String("ours")
	out := b.imports(in)
	d := b.describe(k.KeyId)
	if d.KeyState != types.KeyStateEnabled || d.ExpirationModel != types.ExpirationModelTypeKeyMaterialExpires ||
		!d.ValidTo.Equal(until) || *d.CurrentKeyMaterialId != *out.KeyMaterialId || *out.KeyId != *k.Arn {
		t.Errorf("imported: %+v, %+v", d, out)
	}
	ciphertext := b.encrypt(k.KeyId, "hello", nil)

	b.pass(30 * 24 * time.Hour)
	d = b.describe(k.KeyId)
	if d.KeyState != types.KeyStatePendingImport || d.ValidTo != nil || d.ExpirationModel != "" || b.files() != 0 {
		t.Errorf("expired: %+v, %d files", d, b.files())
	}
	_, err = b.decrypt(ciphertext, nil)
	refused(t, err, "KMSInvalidStateException", "is pending import.")
	_, err = b.ImportKeyMaterial(t.Context(), b.wrapped(k.KeyId, bytes.Repeat([]byte{8}, 32)))
	refused(t, err, "IncorrectKeyMaterialException", "not the same key material that was previously imported")

	again := b.imports(b.wrapped(k.KeyId, secret))
	if got, err := b.decrypt(ciphertext, nil); err != nil || got != "hello" || *again.KeyMaterialId != *out.KeyMaterialId {
		t.Errorf("imported again: %q, %v, %s, want %s", got, err, *again.KeyMaterialId, *out.KeyMaterialId)
	}
	b.imports(b.wrapped(k.KeyId, secret)) // replaces the same material
	d = b.describe(k.KeyId)
	if d.ExpirationModel != types.ExpirationModelTypeKeyMaterialDoesNotExpire || b.files() != 1 {
		t.Errorf("replaced: %+v, %d files", d, b.files())
	}
	deleted, err := b.DeleteImportedKeyMaterial(t.Context(), &client.DeleteImportedKeyMaterialInput{KeyId: k.KeyId})
	if err != nil || *deleted.KeyMaterialId != *out.KeyMaterialId || b.files() != 0 {
		t.Errorf("deleted: %+v, %v, %d files", deleted, err, b.files())
	}
	rotations, err := b.ListKeyRotations(t.Context(), &client.ListKeyRotationsInput{KeyId: k.KeyId,
		IncludeKeyMaterial: types.IncludeKeyMaterialAllKeyMaterial})
	if err != nil || len(rotations.Rotations) != 1 ||
		rotations.Rotations[0].ImportState != types.ImportStatePendingImport {
		t.Errorf("rotations: %+v, %v", rotations, err)
	}
	if err := kms.Check(filepath.Join(b.dir, "kms"), b.kept, b.clock.Now(), func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
}

// TestRepairOfImportedMaterial repairs a key whose material is damaged. Its user imports the material again.
func TestRepairOfImportedMaterial(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := b.create(client.CreateKeyInput{Origin: types.OriginTypeExternal})
	secret := bytes.Repeat([]byte{7}, 32)
	b.imports(b.wrapped(k.KeyId, secret))
	ciphertext := b.encrypt(k.KeyId, "hello", nil)
	dir := filepath.Join(b.dir, "kms")
	all, err := filepath.Glob(filepath.Join(dir, strings.Repeat("?", 64)))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := os.WriteFile(all[0], secret[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	files := inventory.Open(b.kept, b.dir)
	var told []string
	err = errors.Join(kms.Repair(dir, b.kept, files, filepath.Join(b.dir, "aside"), b.clock.Now(),
		func(err error) { told = append(told, err.Error()) }), files.Close())
	if err != nil || len(told) != 1 || !strings.Contains(told[0], "cannot be used until its material is imported again") {
		t.Errorf("told %q, %v", told, err)
	}
	if d := b.describe(k.KeyId); d.KeyState != types.KeyStatePendingImport {
		t.Errorf("repaired: %s", d.KeyState)
	}
	b.imports(b.wrapped(k.KeyId, secret))
	if got, err := b.decrypt(ciphertext, nil); err != nil || got != "hello" {
		t.Errorf("imported again: %q, %v", got, err)
	}
}

// TestImportedKeyPair imports a private key on a curve and signs with it; the secret of an HMAC key may be longer.
func TestImportedKeyPair(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := b.create(client.CreateKeyInput{Origin: types.OriginTypeExternal, KeySpec: types.KeySpecEccNistP256,
		KeyUsage: types.KeyUsageTypeSignVerify})
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	b.imports(b.wrapped(k.KeyId, text))
	digest := sha256.Sum256([]byte("m"))
	signed, err := b.Sign(t.Context(), &client.SignInput{KeyId: k.KeyId, Message: digest[:],
		MessageType: types.MessageTypeDigest, SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256})
	if err != nil || !ecdsa.VerifyASN1(&private.PublicKey, digest[:], signed.Signature) {
		t.Errorf("the signature is not the private key's: %v", err)
	}
	for length, ok := range map[int]bool{31: false, 32: true, 64: true, 65: false} {
		k := b.create(client.CreateKeyInput{Origin: types.OriginTypeExternal, KeySpec: types.KeySpecHmac256,
			KeyUsage: types.KeyUsageTypeGenerateVerifyMac})
		if _, err := b.ImportKeyMaterial(t.Context(), b.wrapped(k.KeyId, make([]byte, length))); (err == nil) != ok {
			t.Errorf("HMAC_256 of %d bytes: %v", length, err)
		}
	}
}

// TestImportsRefused imports what KMS does not accept.
func TestImportsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ours := b.create(client.CreateKeyInput{})
	_, err := b.GetParametersForImport(t.Context(), &client.GetParametersForImportInput{KeyId: ours.KeyId,
		WrappingAlgorithm: types.AlgorithmSpecRsaesOaepSha1, WrappingKeySpec: types.WrappingKeySpecRsa2048})
	refused(t, err, "UnsupportedOperationException", *ours.Arn+" origin is AWS_KMS which is not valid for this operation.")
	k := b.create(client.CreateKeyInput{Origin: types.OriginTypeExternal})
	_, err = b.EnableKeyRotation(t.Context(), &client.EnableKeyRotationInput{KeyId: k.KeyId})
	refused(t, err, "KMSInvalidStateException", "is pending import.")
	other := b.create(client.CreateKeyInput{Origin: types.OriginTypeExternal})
	secret := bytes.Repeat([]byte{7}, 32)
	valid := b.wrapped(k.KeyId, secret)
	past, far := b.clock.Now(), b.clock.Now().Add(366*24*time.Hour)
	for _, c := range []struct {
		name, code, message string
		change              func(*client.ImportKeyMaterialInput)
	}{
		{"no end", "ValidationException", "A validTo date must be set if the ExpirationModel is KEY_MATERIAL_EXPIRES",
			func(in *client.ImportKeyMaterialInput) { in.ExpirationModel = "" }},
		{"past", "ValidationException", "in the future",
			func(in *client.ImportKeyMaterialInput) { in.ExpirationModel, in.ValidTo = "", &past }},
		{"far", "ValidationException", "within 365 days",
			func(in *client.ImportKeyMaterialInput) { in.ExpirationModel, in.ValidTo = "", &far }},
		{"another key's token", "InvalidImportTokenException", "",
			func(in *client.ImportKeyMaterialInput) { in.KeyId = other.KeyId }},
		{"no token", "InvalidImportTokenException", "",
			func(in *client.ImportKeyMaterialInput) { in.ImportToken = []byte("token") }},
		{"not wrapped", "InvalidCiphertextException", "",
			func(in *client.ImportKeyMaterialInput) { in.EncryptedKeyMaterial = secret }},
		{"too short", "IncorrectKeyMaterialException", "does not fit the key spec SYMMETRIC_DEFAULT",
			func(in *client.ImportKeyMaterialInput) { *in = *b.wrapped(k.KeyId, secret[1:]) }},
		{"nothing to repeat", "IncorrectKeyMaterialException", "",
			func(in *client.ImportKeyMaterialInput) { in.ImportType = types.ImportTypeExistingKeyMaterial }},
		{"a key of KMS", "UnsupportedOperationException", "origin is AWS_KMS",
			func(in *client.ImportKeyMaterialInput) { in.KeyId = ours.KeyId }},
	} {
		in := *valid
		c.change(&in)
		_, err := b.ImportKeyMaterial(t.Context(), &in)
		t.Log(c.name)
		refused(t, err, c.code, c.message)
	}
	b.pass(24 * time.Hour)
	_, err = b.ImportKeyMaterial(t.Context(), valid)
	refused(t, err, "ExpiredImportTokenException", "")
	_, err = b.GetParametersForImport(t.Context(), &client.GetParametersForImportInput{KeyId: k.KeyId,
		WrappingAlgorithm: types.AlgorithmSpecRsaAesKeyWrapSha256, WrappingKeySpec: types.WrappingKeySpecRsa4096})
	refused(t, err, "UnsupportedOperationException", "The wrapping algorithm RSA_AES_KEY_WRAP_SHA_256")
	p, err := b.GetParametersForImport(t.Context(), &client.GetParametersForImportInput{KeyId: k.KeyId,
		WrappingAlgorithm: types.AlgorithmSpecRsaesOaepSha1, WrappingKeySpec: types.WrappingKeySpecRsa3072})
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.ParsePKIXPublicKey(p.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public.(*rsa.PublicKey), secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.imports(&client.ImportKeyMaterialInput{KeyId: k.KeyId, ImportToken: p.ImportToken, EncryptedKeyMaterial: sealed,
		ExpirationModel: types.ExpirationModelTypeKeyMaterialDoesNotExpire})
	_, err = b.EnableKeyRotation(t.Context(), &client.EnableKeyRotationInput{KeyId: k.KeyId})
	refused(t, err, "UnsupportedOperationException", "origin is EXTERNAL")
	again := b.wrapped(k.KeyId, secret)
	again.ImportType = types.ImportTypeNewKeyMaterial
	_, err = b.ImportKeyMaterial(t.Context(), again)
	refused(t, err, "UnsupportedOperationException", "A second key material")
}
