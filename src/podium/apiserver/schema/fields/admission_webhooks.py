"""Admission webhooks, which are asked about writes over HTTPS.

`schema/notation.py` explains the notation.
"""

TEXT = """
[admissionregistration]
ReinvocationPolicyType, SideEffectClass = string
ValidatingWebhookConfiguration object
    metadata ObjectMeta; webhooks []ValidatingWebhook{name} merge
ValidatingWebhook
    name! string; clientConfig! WebhookClientConfig; rules []RuleWithOperations;
    failurePolicy *FailurePolicyType; matchPolicy *MatchPolicyType;
    namespaceSelector, objectSelector *LabelSelector; sideEffects! *SideEffectClass;
    timeoutSeconds *int32; admissionReviewVersions! []string;
    matchConditions []MatchCondition{name} merge
MutatingWebhookConfiguration object
    metadata ObjectMeta; webhooks []MutatingWebhook{name} merge
MutatingWebhook
    name! string; clientConfig! WebhookClientConfig; rules []RuleWithOperations;
    failurePolicy *FailurePolicyType; matchPolicy *MatchPolicyType;
    namespaceSelector, objectSelector *LabelSelector; sideEffects! *SideEffectClass;
    timeoutSeconds *int32; admissionReviewVersions! []string;
    reinvocationPolicy *ReinvocationPolicyType; matchConditions []MatchCondition{name} merge
RuleWithOperations
    operations []OperationType; apiGroups, apiVersions, resources []string; scope *ScopeType
WebhookClientConfig
    url *string; service *ServiceReference; caBundle []byte
ServiceReference
    namespace!, name! string; path *string; port *int32
"""
