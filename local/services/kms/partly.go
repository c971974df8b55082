package kms

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateGrant": "kept, and evaluated for nobody",
	"CreateKey": "no imported material, custom key stores, replicas, and keys of the kinds `ECC_SECG_P256K1`, `SM2` " +
		"and `ML_DSA_…`; policies are evaluated for nobody",
	"Decrypt":             "no Nitro enclaves (`Recipient`)",
	"GenerateDataKey":     "no Nitro enclaves (`Recipient`)",
	"GenerateDataKeyPair": "no Nitro enclaves (`Recipient`)",
	"GenerateRandom":      "no Nitro enclaves (`Recipient`), no custom key stores",
	"PutKeyPolicy":        "kept, and evaluated for nobody",
}
