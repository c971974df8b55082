package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// workDays is the number of days for which the copies that Maps read are kept: as long as an execution can be
// redriven, plus a day.
const workDays = 15

func (s *Stack) addBuckets() {
	e := s.Environment
	s.InputBucket = s.bucket("InputBucket", e.InputBucket, e.InputDays)
	s.ResultBucket = s.bucket("ResultBucket", e.ResultBucket, e.ResultDays)
	if e.ResultDays > workDays {
		s.ResultBucket.AddLifecycleRule(&awss3.LifecycleRule{
			Id: jsii.String("work"), Prefix: jsii.String("work/"),
			Expiration: awscdk.Duration_Days(jsii.Number(workDays)),
		})
	}
	announce(s.InputBucket)
}

// announce makes the bucket send its events to EventBridge. CDK's own way is a custom resource with a function that
// may change any bucket's notifications.
func announce(b awss3.Bucket) {
	b.Node().DefaultChild().(awss3.CfnBucket).SetNotificationConfiguration(&awss3.CfnBucket_NotificationConfigurationProperty{
		EventBridgeConfiguration: &awss3.CfnBucket_EventBridgeConfigurationProperty{EventBridgeEnabled: jsii.Bool(true)},
	})
}

// replacedDays is the number of days for which a versioned bucket keeps replaced or deleted objects.
const replacedDays = 30

// bucket declares a bucket that is private and encrypted, rejects plain HTTP, and deletes objects after some days. If
// data is kept, it is versioned.
func (s *Stack) bucket(id, name string, days int) awss3.Bucket {
	props := &awss3.BucketProps{
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		RemovalPolicy:     s.removal(),
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  jsii.String("expire"),
			Expiration:                          awscdk.Duration_Days(jsii.Number(days)),
			AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1)),
		}},
	}
	if name != "" {
		props.BucketName = jsii.String(name)
	}
	if s.Environment.KeepData {
		props.Versioned = jsii.Bool(true)
		(*props.LifecycleRules)[0].NoncurrentVersionExpiration = awscdk.Duration_Days(jsii.Number(replacedDays))
	}
	b := awss3.NewBucket(s.Stack, jsii.String(id), props)
	if logs := s.Environment.AccessLogBucket; logs != "" {
		b.Node().DefaultChild().(awss3.CfnBucket).SetLoggingConfiguration(&awss3.CfnBucket_LoggingConfigurationProperty{
			DestinationBucketName: jsii.String(logs), LogFilePrefix: jsii.String(s.Environment.Prefix() + "/" + id + "/"),
		})
	}
	return b
}
