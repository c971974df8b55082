package s3

import (
	"net/http"

	"stepback/aws"
)

// setting is the response for a setting that cannot be changed here. It is the response that S3 gives for a new
// bucket.
type setting struct {
	code, message string // error with status 404; empty if answer is set
	answer        string // XML without its declaration
}

// settings holds the fixed settings of every bucket, by sub-resource.
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

// ownersACL grants full control to the owner that ListBuckets names.
const ownersACL = `<AccessControlPolicy xmlns="` + namespace + `"><Owner><ID>` + owner +
	`</ID></Owner><AccessControlList><Grant>` +
	`<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>` + owner +
	`</ID></Grantee>` +
	`<Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>`

const owner = "fe7272ea58be830e56fe1663b10fafef"

const encrypted = `<ServerSideEncryptionConfiguration xmlns="` + namespace +
	`"><Rule><ApplyServerSideEncryptionByDefault>` +
	`<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`

// chooseSetting returns the operation that reads the fixed setting a call asks for, or nil if it asks for none.
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

// read returns the setting's response.
func (s setting) read(*call) (any, error) {
	if s.code != "" {
		return nil, &aws.Error{Code: s.code, Message: s.message, Status: http.StatusNotFound}
	}
	return rawXML(s.answer), nil
}
