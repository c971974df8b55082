package kms

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateGrant": "stored; grants allow nothing",
	"CreateKey": "no custom key stores, replicas, and keys of the kinds `ECC_SECG_P256K1`, `SM2` " +
		"and `ML_DSA_…`; policies are evaluated only with `serve --enforce-iam`",
	"Decrypt":                "no Nitro enclaves (`Recipient`)",
	"GenerateDataKey":        "no Nitro enclaves (`Recipient`)",
	"GenerateDataKeyPair":    "no Nitro enclaves (`Recipient`)",
	"GenerateRandom":         "no Nitro enclaves (`Recipient`), no custom key stores",
	"GetParametersForImport": "no wrapping algorithms with AES key wrap (`RSA_AES_KEY_WRAP_…`), and therefore no RSA keys",
	"ImportKeyMaterial":      "a key has one imported material; it cannot be rotated",
	"PutKeyPolicy": "evaluated only with `serve --enforce-iam`; a policy must let a principal of the account change it, not " +
		"the caller",
}
