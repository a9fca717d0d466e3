package com.github.smartbuf.dubbo;

import com.github.smartbuf.dubbo.model.PostModel;
import com.github.smartbuf.dubbo.model.UserModel;
import java.util.List;

/** The three workloads of the smartbuf comparison: posts, user, tiny. */
public interface UserService {
    List<PostModel> queryPost(String keyword);

    UserModel getUser(Integer userId);

    String tiny(String request);
}
