package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/comprehend"
	"github.com/aws/aws-sdk-go-v2/service/polly"
	"github.com/aws/aws-sdk-go-v2/service/rekognition"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	transcribetypes "github.com/aws/aws-sdk-go-v2/service/transcribe/types"
	"github.com/aws/aws-sdk-go-v2/service/translate"
)

// languageServices read, speak, see and translate. Of the large ones only what state machines call is here.
var languageServices = []Service{
	{
		Name: "comprehend", ID: "Comprehend", Variable: "COMPREHEND_ENDPOINT", Class: "Comprehend",
		Client: func(cfg aws.Config) any {
			c := comprehend.NewFromConfig(cfg)
			return actions{
				c.BatchDetectDominantLanguage, c.BatchDetectEntities, c.BatchDetectKeyPhrases, c.BatchDetectSentiment,
				c.BatchDetectSyntax, c.ClassifyDocument, c.ContainsPiiEntities, c.DescribeDocumentClassificationJob,
				c.DescribeEntitiesDetectionJob, c.DescribeKeyPhrasesDetectionJob, c.DescribePiiEntitiesDetectionJob,
				c.DescribeSentimentDetectionJob, c.DescribeTopicsDetectionJob, c.DetectDominantLanguage,
				c.DetectEntities,
				c.DetectKeyPhrases, c.DetectPiiEntities, c.DetectSentiment, c.DetectSyntax, c.DetectTargetedSentiment,
				c.DetectToxicContent, c.StartDocumentClassificationJob, c.StartEntitiesDetectionJob,
				c.StartKeyPhrasesDetectionJob,
				c.StartPiiEntitiesDetectionJob, c.StartSentimentDetectionJob, c.StartTopicsDetectionJob,
			}
		},
	},
	{
		Name: "polly", ID: "Polly", Variable: "POLLY_ENDPOINT", Class: "Polly",
		Client: func(c aws.Config) any { return polly.NewFromConfig(c) },
	},
	{
		Name: "rekognition", ID: "Rekognition", Variable: "REKOGNITION_ENDPOINT", Class: "Rekognition",
		Client: func(cfg aws.Config) any {
			c := rekognition.NewFromConfig(cfg)
			return actions{
				c.CompareFaces, c.CreateCollection, c.DeleteCollection, c.DeleteFaces, c.DescribeCollection,
				c.DetectCustomLabels,
				c.DetectFaces, c.DetectLabels, c.DetectModerationLabels, c.DetectProtectiveEquipment, c.DetectText,
				c.GetCelebrityRecognition, c.GetContentModeration, c.GetFaceDetection, c.GetFaceSearch,
				c.GetLabelDetection,
				c.GetPersonTracking, c.GetSegmentDetection, c.GetTextDetection, c.IndexFaces, c.ListCollections,
				c.ListFaces,
				c.RecognizeCelebrities, c.SearchFaces, c.SearchFacesByImage, c.StartCelebrityRecognition,
				c.StartContentModeration,
				c.StartFaceDetection, c.StartFaceSearch, c.StartLabelDetection, c.StartPersonTracking,
				c.StartSegmentDetection,
				c.StartTextDetection,
			}
		},
	},
	{
		Name: "transcribe", ID: "Transcribe", Variable: "TRANSCRIBE_ENDPOINT", Class: "Transcribe",
		Client: func(cfg aws.Config) any {
			c := transcribe.NewFromConfig(cfg)
			return actions{
				c.CreateVocabulary, c.DeleteCallAnalyticsJob, c.DeleteMedicalTranscriptionJob, c.DeleteTranscriptionJob,
				c.GetCallAnalyticsJob, c.GetMedicalTranscriptionJob, c.GetTranscriptionJob, c.GetVocabulary,
				c.ListTranscriptionJobs,
				c.StartCallAnalyticsJob, c.StartMedicalTranscriptionJob, c.StartTranscriptionJob, c.UpdateVocabulary,
			}
		},
		unions: []any{
			transcribetypes.RuleMemberInterruptionFilter{}, transcribetypes.RuleMemberNonTalkTimeFilter{},
			transcribetypes.RuleMemberSentimentFilter{}, transcribetypes.RuleMemberTranscriptFilter{},
		},
	},
	{
		Name: "translate", ID: "Translate", Variable: "TRANSLATE_ENDPOINT", Class: "Translate",
		Client: func(c aws.Config) any { return translate.NewFromConfig(c) },
	},
}
