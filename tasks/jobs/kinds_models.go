package jobs

// modelJobs holds the jobs that train, tune and use models.
var modelJobs = map[string]*kind{
	"bedrock:createModelCustomizationJob": {
		describe: "GetModelCustomizationJob", named: request(member{"JobIdentifier", told("JobArn")}),
		status: path{"Status"},
		done:   []string{"Completed"}, failed: []string{"Failed", "Stopped"}, result: whole,
		stop: "StopModelCustomizationJob", stopped: request(member{"JobIdentifier", told("JobArn")}),
	},
	"sagemaker:createHyperParameterTuningJob": sageMakerJob("HyperParameterTuningJob"),
	"sagemaker:createLabelingJob":             sageMakerJob("LabelingJob"),
	"sagemaker:createProcessingJob":           sageMakerJob("ProcessingJob"),
	"sagemaker:createTrainingJob":             sageMakerJob("TrainingJob"),
	"sagemaker:createTransformJob":            sageMakerJob("TransformJob"),
}

// sageMakerJob returns a kind of SageMaker job. The names of SageMaker's actions and members contain the name of
// the kind.
func sageMakerJob(kindOf string) *kind {
	name := request(member{kindOf + "Name", asked(kindOf + "Name")})
	return &kind{
		describe: "Describe" + kindOf, named: name, status: path{kindOf + "Status"},
		done: []string{"Completed"}, failed: []string{"DeleteFailed", "Failed", "Stopped"}, result: whole,
		stop: "Stop" + kindOf, stopped: name,
	}
}
