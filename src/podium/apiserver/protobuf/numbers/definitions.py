"""Definitions of custom resources, and admission policies."""

NUMBERS = """
[admissionregistration]
ApplyConfiguration expression
AuditAnnotation key valueExpression
ExpressionWarning 2 fieldRef warning
MatchCondition name expression
MatchResources namespaceSelector objectSelector resourceRules excludeResourceRules 7 matchPolicy
JSONPatch expression
MutatingAdmissionPolicy metadata spec
MutatingAdmissionPolicyBinding metadata spec
MutatingAdmissionPolicyBindingSpec policyName paramRef matchResources
MutatingAdmissionPolicySpec paramKind matchConstraints variables mutations failurePolicy
    matchConditions reinvocationPolicy
Mutation 2 patchType applyConfiguration jsonPatch
MutatingWebhook name clientConfig rules failurePolicy namespaceSelector sideEffects timeoutSeconds
    admissionReviewVersions matchPolicy reinvocationPolicy objectSelector matchConditions
MutatingWebhookConfiguration metadata webhooks
NamedRuleWithOperations resourceNames ~RuleWithOperations
ParamKind apiVersion kind
ParamRef name namespace selector parameterNotFoundAction
Rule apiGroups apiVersions resources scope
RuleWithOperations operations ~Rule
ServiceReference namespace name path port
TypeChecking expressionWarnings
ValidatingAdmissionPolicy metadata spec status
ValidatingAdmissionPolicyBinding metadata spec
ValidatingAdmissionPolicyBindingSpec policyName paramRef matchResources validationActions
ValidatingAdmissionPolicySpec paramKind matchConstraints validations failurePolicy auditAnnotations
    matchConditions variables
ValidatingAdmissionPolicyStatus observedGeneration typeChecking conditions
ValidatingWebhook name clientConfig rules failurePolicy namespaceSelector sideEffects
    timeoutSeconds admissionReviewVersions matchPolicy objectSelector matchConditions
ValidatingWebhookConfiguration metadata webhooks
Validation expression message reason messageExpression
Variable name expression
WebhookClientConfig service caBundle url
[apiregistration]
APIService metadata spec status
APIServiceCondition type status lastTransitionTime reason message
APIServiceSpec service group version insecureSkipTLSVerify caBundle 7 groupPriorityMinimum
    versionPriority
APIServiceStatus conditions
ServiceReference namespace name port
[certificates]
CertificateSigningRequest metadata spec status
CertificateSigningRequestCondition type reason message lastUpdateTime lastTransitionTime status
CertificateSigningRequestSpec request username uid groups usages extra signerName
    expirationSeconds
CertificateSigningRequestStatus conditions certificate
[apiextensions]
CustomResourceColumnDefinition name type format description priority jsonPath
CustomResourceConversion strategy webhook
CustomResourceDefinition metadata spec status
CustomResourceDefinitionCondition type status lastTransitionTime reason message observedGeneration
CustomResourceDefinitionNames plural singular shortNames kind listKind categories
CustomResourceDefinitionSpec group 3 names scope 7 versions 9 conversion preserveUnknownFields
CustomResourceDefinitionStatus conditions acceptedNames storedVersions observedGeneration
CustomResourceDefinitionVersion name served storage schema subresources additionalPrinterColumns
    deprecated deprecationWarning selectableFields
CustomResourceSubresourceScale specReplicasPath statusReplicasPath labelSelectorPath
CustomResourceSubresources status scale
CustomResourceValidation openAPIV3Schema
ExternalDocumentation description url
JSONSchemaProps id $schema $ref description type format title default maximum exclusiveMaximum
    minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf
    enum maxProperties minProperties required items allOf oneOf anyOf not properties
    additionalProperties patternProperties dependencies additionalItems definitions externalDocs
    example nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource
    x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type
    x-kubernetes-map-type x-kubernetes-validations
SelectableField jsonPath
ServiceReference namespace name path port
ValidationRule rule message messageExpression reason fieldPath optionalOldSelf
WebhookClientConfig service caBundle url
WebhookConversion 2 clientConfig conversionReviewVersions
"""
