package org.dubbowire.rig.models;

import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Functions and proxies as values. */
public class Functions implements Serializable {
    private String name;
    private Shape lambda;
    private Shape proxy;
    private int last;

    public void set(double captured, String said) {
        lambda = () -> captured;
        proxy = (Shape) Proxy.newProxyInstance(Functions.class.getClassLoader(), new Class<?>[] {Shape.class}, new Handler(said));
    }

    public static class Handler implements InvocationHandler, Serializable {
        private String said;

        Handler(String said) {
            this.said = said;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] args) {
            switch (method.getName()) {
                case "hashCode":
                    return 1;
                case "equals":
                    return proxy == args[0];
                case "toString":
                    return said;
                default:
                    return 2.5;
            }
        }
    }
}
