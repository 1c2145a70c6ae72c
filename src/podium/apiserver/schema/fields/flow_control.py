"""Flow schemas and priority levels.

`schema/notation.py` explains the notation.
"""

TEXT = """
[flowcontrol]
ConditionStatus, FlowDistinguisherMethodType, FlowSchemaConditionType, LimitResponseType,
PriorityLevelConfigurationConditionType, PriorityLevelEnablement, SubjectKind = string
FlowSchema object
    metadata ObjectMeta; spec FlowSchemaSpec; status FlowSchemaStatus
FlowSchemaSpec
    priorityLevelConfiguration! PriorityLevelConfigurationReference; matchingPrecedence+ int32;
    distinguisherMethod *FlowDistinguisherMethod; rules []PolicyRulesWithSubjects
FlowDistinguisherMethod
    type! FlowDistinguisherMethodType
PriorityLevelConfigurationReference
    name! string
PolicyRulesWithSubjects
    subjects! []Subject; resourceRules []ResourcePolicyRule;
    nonResourceRules []NonResourcePolicyRule
Subject
    kind! SubjectKind; user *UserSubject; group *GroupSubject;
    serviceAccount *ServiceAccountSubject
UserSubject
    name! string
GroupSubject
    name! string
ServiceAccountSubject
    namespace!, name! string
ResourcePolicyRule
    verbs!, apiGroups!, resources! []string{}; clusterScope bool; namespaces+ []string{}
NonResourcePolicyRule
    verbs!, nonResourceURLs! []string{}
FlowSchemaStatus
    conditions []FlowSchemaCondition{type} merge
FlowSchemaCondition
    type FlowSchemaConditionType; status ConditionStatus; lastTransitionTime Time;
    reason, message string
PriorityLevelConfiguration object
    metadata ObjectMeta; spec PriorityLevelConfigurationSpec;
    status PriorityLevelConfigurationStatus
PriorityLevelConfigurationSpec
    type! PriorityLevelEnablement; limited *LimitedPriorityLevelConfiguration;
    exempt *ExemptPriorityLevelConfiguration
LimitedPriorityLevelConfiguration
    nominalConcurrencyShares+ *int32; limitResponse LimitResponse;
    lendablePercent, borrowingLimitPercent *int32
ExemptPriorityLevelConfiguration
    nominalConcurrencyShares, lendablePercent *int32
LimitResponse
    type! LimitResponseType; queuing *QueuingConfiguration
QueuingConfiguration
    queues+, handSize+, queueLengthLimit+ int32
PriorityLevelConfigurationStatus
    conditions []PriorityLevelConfigurationCondition{type} merge
PriorityLevelConfigurationCondition
    type PriorityLevelConfigurationConditionType; status ConditionStatus;
    lastTransitionTime Time; reason, message string
"""
