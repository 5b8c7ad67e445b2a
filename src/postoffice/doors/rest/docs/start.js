SwaggerUIBundle({ url: "/openapi.json", dom_id: "#ui", deepLinking: true, persistAuthorization: false, validatorUrl: null });
