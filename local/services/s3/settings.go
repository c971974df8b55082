package s3

import (
	"net/http"

	"stepback/aws"
)

// setting is what a bucket says of a setting that nobody can change here: what S3 says of a new bucket.
type setting struct {
	code, message string // of the error 404; empty when there is an answer
	answer        string // XML without its declaration
}

// settings are those of every bucket, by their sub-resources.
var settings = map[string]setting{
	"accelerate":   {answer: `<AccelerateConfiguration xmlns="` + namespace + `"/>`},
	"acl":          {answer: ownersACL},
	"cors":         {"NoSuchCORSConfiguration", "The CORS configuration does not exist", ""},
	"encryption":   {answer: encrypted},
	"lifecycle":    {"NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist", ""},
	"logging":      {answer: `<BucketLoggingStatus xmlns="` + namespace + `"/>`},
	"notification": {answer: `<NotificationConfiguration xmlns="` + namespace + `"/>`},
	"object-lock": {"ObjectLockConfigurationNotFoundError",
		"Object Lock configuration does not exist for this bucket", ""},
	"ownershipControls": {"OwnershipControlsNotFoundError", "The bucket ownership controls were not found", ""},
	"policy":            {"NoSuchBucketPolicy", "The bucket policy does not exist", ""},
	"publicAccessBlock": {"NoSuchPublicAccessBlockConfiguration", "The public access block configuration was not found",
		""},
	"replication": {"ReplicationConfigurationNotFoundError", "The replication configuration was not found", ""},
	"requestPayment": {answer: `<RequestPaymentConfiguration xmlns="` + namespace +
		`"><Payer>BucketOwner</Payer></RequestPaymentConfiguration>`},
	"tagging":    {"NoSuchTagSet", "The TagSet does not exist", ""},
	"versioning": {answer: `<VersioningConfiguration xmlns="` + namespace + `"/>`},
	"website": {"NoSuchWebsiteConfiguration", "The specified bucket does not have a website configuration",
		""},
}

// ownersACL gives everything to the owner that ListBuckets names.
const ownersACL = `<AccessControlPolicy xmlns="` + namespace + `"><Owner><ID>` + owner +
	`</ID></Owner><AccessControlList><Grant>` +
	`<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>` + owner +
	`</ID></Grantee>` +
	`<Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>`

const owner = "fe7272ea58be830e56fe1663b10fafef"

const encrypted = `<ServerSideEncryptionConfiguration xmlns="` + namespace +
	`"><Rule><ApplyServerSideEncryptionByDefault>` +
	`<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`

// chooseSetting finds the setting that a call asks for, nil when it asks for none.
func chooseSetting(c *call) operation {
	if c.Method != http.MethodGet || c.key != "" {
		return nil
	}
	for name := range c.query {
		if s, ok := settings[name]; ok {
			return s.read
		}
	}
	return nil
}

// read answers for the setting.
func (s setting) read(*call) (any, error) {
	if s.code != "" {
		return nil, &aws.Error{Code: s.code, Message: s.message, Status: http.StatusNotFound}
	}
	return rawXML(s.answer), nil
}
