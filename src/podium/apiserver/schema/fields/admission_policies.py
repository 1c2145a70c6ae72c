"""Admission policies and their bindings.

`schema/notation.py` explains the notation.
"""

TEXT = """
[admissionregistration]
FailurePolicyType, MatchPolicyType, OperationType, ParameterNotFoundActionType, PatchType,
ScopeType, StatusReason, ValidationAction = string
ValidatingAdmissionPolicy object
    metadata ObjectMeta; spec ValidatingAdmissionPolicySpec; status ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicySpec
    paramKind *ParamKind; matchConstraints *MatchResources; validations []Validation;
    failurePolicy *FailurePolicyType; auditAnnotations []AuditAnnotation;
    matchConditions []MatchCondition{name} merge; variables []Variable{name} merge
ParamKind atomic
    apiVersion, kind string
MatchResources atomic
    namespaceSelector, objectSelector *LabelSelector;
    resourceRules, excludeResourceRules []NamedRuleWithOperations; matchPolicy *MatchPolicyType
NamedRuleWithOperations atomic
    resourceNames []string; operations []OperationType; apiGroups, apiVersions, resources []string;
    scope *ScopeType
Validation
    expression! string; message string; reason *StatusReason; messageExpression string
AuditAnnotation
    key!, valueExpression! string
MatchCondition
    name!, expression! string
Variable atomic
    name!, expression! string
ValidatingAdmissionPolicyStatus
    observedGeneration int64; typeChecking *TypeChecking; conditions []Condition{type}
TypeChecking
    expressionWarnings []ExpressionWarning
ExpressionWarning
    fieldRef!, warning! string
ValidatingAdmissionPolicyBinding object
    metadata ObjectMeta; spec ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec
    policyName string; paramRef *ParamRef; matchResources *MatchResources;
    validationActions []ValidationAction{}
MutatingAdmissionPolicy object
    metadata ObjectMeta; spec MutatingAdmissionPolicySpec
MutatingAdmissionPolicySpec
    paramKind *ParamKind; matchConstraints *MatchResources; variables []Variable;
    mutations []Mutation; failurePolicy *FailurePolicyType;
    matchConditions []MatchCondition{name} merge; reinvocationPolicy ReinvocationPolicyType
Mutation
    patchType! PatchType; applyConfiguration *ApplyConfiguration; jsonPatch *JSONPatch
ApplyConfiguration
    expression string
JSONPatch
    expression string
MutatingAdmissionPolicyBinding object
    metadata ObjectMeta; spec MutatingAdmissionPolicyBindingSpec
MutatingAdmissionPolicyBindingSpec
    policyName string; paramRef *ParamRef; matchResources *MatchResources
ParamRef atomic
    name, namespace string; selector *LabelSelector;
    parameterNotFoundAction *ParameterNotFoundActionType
"""
